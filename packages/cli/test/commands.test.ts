// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own variables
/** Each command that looks at a server or calls it, as a process, against a real server in another. */

import { rmSync } from "node:fs";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { AFTER, begin, emptyFolder, FIXTURE, run } from "./patchbay.ts";

// Each test starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

let cwd: string;
const folders: string[] = [];
beforeEach(() => {
  cwd = emptyFolder();
  folders.push(cwd);
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});
const patchbay = (...words: string[]) => run(words, { cwd });

describe("help", () => {
  it.each([
    "serve",
    "tools",
    "resources",
    "prompts",
    "call",
    "read",
    "get",
    "login",
    "logout",
    "whoami",
    "ask",
    "chat",
    "doctor",
  ])("%s --help has examples", async (command) => {
    const { code, stdout, stderr } = await patchbay(command, "--help");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      new RegExp(`Usage: patchbay ${command} [\\s\\S]*Examples:[\\s\\S]*patchbay ${command}`),
    );
  });

  it("lists the commands, without any word as with --help", async () => {
    const [none, help] = await Promise.all([patchbay(), patchbay("--help")]);
    expect(none).toEqual(help);
    expect(help.code).toBe(0);
    expect(help.stdout).toMatch(/serve[\s\S]*doctor[\s\S]*Examples:[\s\S]*Exit codes/);
  });

  it("tells its version", async () => {
    expect(await patchbay("--version")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });
});

describe("wrong usage: exit 2, with the nearest name", () => {
  it.each<[string[], RegExp]>([
    [["tolls"], /unknown command 'tolls'\. Did you mean "tools"\?\n.*patchbay --help/],
    [
      ["tools", "calculator", "--jsn"],
      /unknown option '--jsn'\. Did you mean "--json"\?\n.*patchbay tools --help/,
    ],
    [["tools"], /Which server\? .*built-in \(.*calculator/],
    [["tools", "calculater"], /no server "calculater"\. .* Did you mean "calculator"\?/],
    [["tools", "localhost:3000/mcp"], /is no URL yet: .* Did you mean "http:\/\/localhost:3000\/mcp"\?/],
    [["tools", "mcp.example.com/mcp?key=x"], /Did you mean "https:\/\/mcp\.example\.com\/mcp\?…"\?/],
    [["tools", FIXTURE], /is a file\. .*-- node/],
    [["call", "ecko", "text=x", ...AFTER], /no tool "ecko"\. .*offers: .*echo.* Did you mean "echo"\?/],
    [["call", ...AFTER], /Which tool\?/],
    [["call", "echo", "txt=x", ...AFTER], /no argument "txt"\. It takes: text\. Did you mean "text"\?/],
    [["call", "echo", ...AFTER], /Missing: text=<text>/],
    [["call", "types", "n=ten", ...AFTER], /n: expected number, got "ten"/],
    [["call", "echo", "--args", "{", ...AFTER], /--args is not JSON/],
    [["call", "echo", "text=x", "--args", "{}", ...AFTER], /key=value or --args, not both/],
    [["get", "gret", ...AFTER], /no prompt "gret"\. .* Did you mean "greet"\?/],
    [["get", "greet", ...AFTER], /Missing: name=<text>/],
    [["read", ...AFTER], /Which resource\?/],
    [["tools", "--timeout", "2147483648", ...AFTER], /--timeout.*at most 2147483647\.\n/],
    [["tools", "--timeout", "soon", ...AFTER], /--timeout.*whole number of milliseconds/],
    [["serve"], /missing required argument 'name'/],
    [["serve", "calculater"], /no built-in server "calculater"\. .* Did you mean "calculator"\?/],
    [["serve", "calculator", "--http", "./x.js"], /--http takes a port from 0 to 65535/],
    [["serve", "calculator", "--stdio", "--http"], /not both/],
    [["serve", "calculator", "--http", "0", "--host", "0.0.0.0"], /0\.0\.0\.0 can be reached.*--allow-host/],
    [["serve", "./none.js"], /no such file/],
    [["ask"], /missing required argument 'question'/],
    [["ask", " "], /Ask something/],
    [["ask", "1+1", "--server", "calculater"], /no server "calculater"/],
  ])("%j", async (words, message) => {
    const { code, stdout, stderr } = await patchbay(...words);
    expect(stderr).toMatch(message);
    expect([code, stdout]).toEqual([2, ""]);
  });

  it("is one JSON value with --json", async () => {
    const { code, stdout } = await patchbay("tolls", "--json");
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { kind: "usage" } });
    const unknown = await patchbay("call", "ecko", "--json", ...AFTER);
    expect(JSON.parse(unknown.stdout)).toMatchObject({ error: { kind: "usage", suggestion: "echo" } });
  });
});

describe("no connection: exit 3", () => {
  const script = (code: string) => ["--", process.execPath, "-e", code];
  it.each<[string, string[], RegExp]>([
    ["nobody listens", ["http://127.0.0.1:9/mcp"], /127\.0\.0\.1:9.*nothing listens/],
    ["no such program", ["--", "no-such-program-anywhere"], /"no-such-program-anywhere"/],
    ["it ends", script("console.error('my last words'); process.exit(7)"), /code 7[\s\S]*my last words/],
    [
      "it only echoes",
      script("process.stdin.pipe(process.stdout)"),
      /does not speak MCP: it sends back what/,
    ],
    ["it never answers", ["--timeout", "500", ...script("setInterval(() => {}, 1e6)")], /500 ms/],
  ])("%s", async (_, target, message) => {
    const { code, stdout, stderr } = await patchbay("tools", ...target);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(/^error: /m);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
    const json = await patchbay("tools", "--json", ...target);
    expect(json.code).toBe(3);
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { kind: "connection" } });
  });
});

describe("what a server offers", () => {
  it("tools", async () => {
    const { code, stdout } = await patchbay("tools", ...AFTER);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^echo text=<text>\n {2}Says it again\n/);
    expect(stdout).not.toMatch(/\u001B/);
    const json = await patchbay("tools", "--json", ...AFTER);
    expect(JSON.parse(json.stdout).tools[0]).toMatchObject({
      name: "echo",
      description: "Says\u001B[31m it again",
    });
    expect(json.stdout.trim().split("\n")).toHaveLength(1);
  });

  it("resources and their templates", async () => {
    const { stdout } = await patchbay("resources", ...AFTER);
    expect(stdout).toBe("demo://text A text, text/plain\ndemo://bytes bytes\ndemo://item/{id} item\n");
    const json = await patchbay("resources", "--json", ...AFTER);
    const { resources, resourceTemplates } = JSON.parse(json.stdout);
    expect([resources.length, resourceTemplates.length]).toEqual([2, 1]);
  });

  it("prompts", async () => {
    expect((await patchbay("prompts", ...AFTER)).stdout).toBe("greet name=<text> [mood=<text>]\n  Greets\n");
    const json = await patchbay("prompts", "--json", ...AFTER);
    expect(JSON.parse(json.stdout).prompts[0].name).toBe("greet");
  });

  it("a built-in, in a process of its own", async () => {
    const { code, stdout } = await patchbay("tools", "calculator");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^add a=<number> b=<number>/m);
  });
});

describe("call", () => {
  it("prints the text of the result", async () => {
    expect(await patchbay("call", "calculator", "add", "a=1", "b=2")).toMatchObject({
      code: 0,
      stdout: "3\n",
      stderr: "",
    });
    expect((await patchbay("call", "echo", "text=a=b", ...AFTER)).stdout).toBe("a=b\n");
  });

  it("converts values, and takes raw JSON", async () => {
    const { stdout } = await patchbay("call", "types", "n=-1.5", "list=1", "list=2", ...AFTER);
    expect(JSON.parse(stdout)).toEqual({ n: -1.5, list: [1, 2] });
    const raw = await patchbay("call", "types", "n:=2", "list:=[3]", ...AFTER);
    expect(JSON.parse(raw.stdout)).toEqual({ n: 2, list: [3] });
    const whole = await patchbay("call", "types", "--args", '{"n":4,"list":[]}', ...AFTER);
    expect(JSON.parse(whole.stdout)).toEqual({ n: 4, list: [] });
  });

  it("--args are sent as they are: the server checks them", async () => {
    const { code, stdout, stderr } = await patchbay("call", "echo", "--args", '{"text":5}', ...AFTER);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/text/);
  });

  it("exits 1 when the tool failed", async () => {
    const { code, stdout, stderr } = await patchbay("call", "fail", ...AFTER);
    expect([code, stdout, stderr]).toEqual([1, "", "error: fail: it did not work\n"]);
    const json = await patchbay("call", "fail", "--json", ...AFTER);
    expect([json.code, json.stderr]).toEqual([1, ""]);
    expect(JSON.parse(json.stdout)).toMatchObject({ isError: true, content: [{ text: "it did not work" }] });
  });

  it("shows nothing that moves the cursor or hides", async () => {
    expect((await patchbay("call", "paint", ...AFTER)).stdout).toBe("red hidden end\n");
    const json = await patchbay("call", "paint", "--json", ...AFTER);
    expect(json.stdout).not.toMatch(/[\u001B\u202E\u200B]|[\u{E0000}-\u{E007F}]/u);
    expect(JSON.parse(json.stdout).content[0].text).toBe(
      "\u001B[31mred\u001B[0m \u202Ehidden\u200B \u{E0041}end",
    );
  });

  it("names what is no text", async () => {
    expect((await patchbay("call", "picture", ...AFTER)).stdout).toBe("[image: image/png, 5 bytes]\n");
  });

  it("shows warnings of the server, and all of its log with --verbose", async () => {
    const { stderr } = await patchbay("call", "log", ...AFTER);
    expect(stderr).toMatch(/error: .*a mishap/);
    expect(stderr).not.toMatch(/a detail|to stderr/);
    const verbose = await patchbay("call", "log", "-v", ...AFTER);
    expect(verbose.stderr).toMatch(/debug: .*a detail/);
    expect(verbose.stderr).toMatch(/to stderr/);
    expect(verbose.stdout).toBe("done\n");
  });
});

describe("read and get", () => {
  it("read a text, bytes, and by a template", async () => {
    expect((await patchbay("read", "demo://text", ...AFTER)).stdout).toBe("some text\n");
    expect((await patchbay("read", "demo://item/7", ...AFTER)).stdout).toBe("item 7\n");
    const json = await patchbay("read", "demo://bytes", "--json", ...AFTER);
    expect(JSON.parse(json.stdout).contents[0].blob).toBe("AAH+/w==");
    const { child, ended } = begin(["read", "demo://bytes", ...AFTER], { cwd });
    const bytes: Buffer[] = [];
    child.stdout.setEncoding("latin1").on("data", (text) => bytes.push(Buffer.from(text, "latin1")));
    await ended;
    expect([...Buffer.concat(bytes)]).toEqual([0, 1, 254, 255]);
  });

  it("say what is not there", async () => {
    const { code, stderr } = await patchbay("read", "demo://nothing", ...AFTER);
    expect(code).toBe(1);
    expect(stderr).toMatch(/Resource not found: demo:\/\/nothing/);
    const json = await patchbay("read", "demo://nothing", "--json", ...AFTER);
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { kind: "failed", code: expect.any(Number) } });
  });

  it("say when there is nothing to read", async () => {
    const { code, stderr } = await patchbay("read", "calculator", "demo://text");
    expect([code, stderr]).toEqual([1, "error: calculator offers no resources.\n"]);
  });

  it("get a prompt, filled in", async () => {
    expect((await patchbay("get", "greet", "name=Ada", ...AFTER)).stdout).toBe("user: Greet Ada.\n");
    const json = await patchbay("get", "greet", "name=Ada", "--json", ...AFTER);
    expect(JSON.parse(json.stdout).messages).toHaveLength(1);
  });
});
