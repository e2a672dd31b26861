/** The code server: programs, the files that go in and come out, and interpreters that are kept. */

import { type Client, connect } from "@patchbay/client";
import type { CallToolResult } from "@patchbay/core";
import type { McpServer } from "@patchbay/server";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { type CodeOptions, createCode } from "../src/code/index.ts";
import { serveUsers } from "./users.ts";

interface Shown {
  returncode: number;
  stdout: string;
  stderr: string;
  truncated: boolean;
  files: { path: string; uri: string; mimeType: string; size: number }[];
}

/** On a busy machine. */
const WAIT = { timeout: 10_000 };

const OPTIONS: CodeOptions = {
  maxInputBytes: 10_000,
  maxMadeBytes: 20_000,
  maxKeptBytes: 30_000,
  maxSessions: 5,
  maxSessionsPerPrincipal: 1,
};

let server: McpServer;
let client: Client;

function textOf({ content }: CallToolResult): string {
  return content[0]?.type === "text" ? content[0].text : "";
}

async function runCode(args: Record<string, unknown>, through = client): Promise<Shown> {
  const result = await through.callTool("run_code", args);
  if (result.structuredContent === undefined) throw new Error(textOf(result));
  return result.structuredContent as unknown as Shown;
}

async function failure(args: Record<string, unknown>, tool = "run_code", through = client): Promise<string> {
  const result = await through.callTool(tool, args);
  expect(result.isError).toBe(true);
  return textOf(result);
}

async function start(language: string, through = client): Promise<string> {
  const result = await through.callTool("start_session", { language });
  if (result.structuredContent === undefined) throw new Error(textOf(result));
  return (result.structuredContent as { session: string }).session;
}

async function read(uri: string, through = client) {
  return (await through.readResource(uri)).contents[0];
}

needs("bwrap", "python3")("run_code", () => {
  beforeAll(async () => {
    server = await createCode(OPTIONS);
    client = await connect(server);
  });
  afterAll(() => client?.close());

  const NOTHING = { stderr: "", truncated: false, files: [] };

  describe("a program", () => {
    it.each([
      ["python", "import sys\nprint(sys.stdin.read() + '!')\nsys.exit(3)"],
      ["node", "process.stdin.on('data', (data) => console.log(data + '!')); process.exitCode = 3"],
    ])("reads, writes and ends as %s does", async (language, code) => {
      expect(await runCode({ language, code, stdin: "hello" })).toEqual({
        ...NOTHING,
        returncode: 3,
        stdout: "hello!\n",
      });
    });

    it.each([
      ["python", "import os\nraise ValueError('what\\'s wrong')", 'File "/box/main.py", line 2'],
      ["node", "const a = 1;\nthrow new Error('wrong')", "/box/main.js:2"],
    ])("says what went wrong: %s", async (language, code, place) => {
      const { returncode, stderr } = await runCode({ language, code });
      expect(returncode).toBe(1);
      expect(stderr).toContain(place);
    });

    it("of Node may be a module, or not", async () => {
      const esm = "import { EOL } from 'node:os'; console.log(await Promise.resolve(EOL.length))";
      expect(await runCode({ language: "node", code: esm })).toMatchObject({ returncode: 0, stdout: "1\n" });
      const cjs = "console.log(require('node:os').EOL.length)";
      expect(await runCode({ language: "node", code: cjs })).toMatchObject({ returncode: 0, stdout: "1\n" });
    });

    it("finds the files that it is given, and gives back those that it made or changed", async () => {
      const result = await client.callTool("run_code", {
        language: "python",
        code: `
import os, tool
os.makedirs("out/a b")
open("out/a b/sum.csv", "w").write(str(tool.double(21)))
open("pixel.png", "wb").write(bytes([0x89, 0x50, 0]))
open("changed.txt", "a").write("more")
os.symlink("/etc/passwd", "link.txt")
os.link("changed.txt", "hard.txt")
os.mkfifo("pipe")
os.remove("gone.txt")
print(open("same.bin", "rb").read())`,
        files: [
          { path: "tool.py", content: "def double(n): return 2 * n" },
          { path: "changed.txt", content: "some " },
          { path: "gone.txt", content: "" },
          { path: "same.bin", content: "AAH/", encoding: "base64" },
        ],
      });
      const { stdout, files } = result.structuredContent as unknown as Shown;
      expect(stdout).toBe("b'\\x00\\x01\\xff'\n");
      const found = new Map(files.map((file) => [file.path, file]));
      expect([...found.keys()].sort()).toEqual(["changed.txt", "hard.txt", "out/a b/sum.csv", "pixel.png"]);
      const sum = found.get("out/a b/sum.csv");
      expect(sum).toMatchObject({ mimeType: "text/csv", size: 2 });
      expect(result.content).toContainEqual({
        type: "resource_link",
        name: "out/a b/sum.csv",
        uri: sum?.uri,
        mimeType: "text/csv",
        size: 2,
      });
      expect(await read(sum?.uri ?? "")).toMatchObject({ mimeType: "text/csv", text: "42" });
      expect(await read(found.get("pixel.png")?.uri ?? "")).toMatchObject({
        mimeType: "image/png",
        blob: "iVAA",
      });
      expect(await read(found.get("changed.txt")?.uri ?? "")).toMatchObject({ text: "some more" });
    });

    it("gives back what it has made when it took too long", async () => {
      const code = "open('half.txt', 'w').write('half')\nimport time\ntime.sleep(60)";
      const { returncode, files } = await runCode({ language: "python", code, timeout: 1 });
      expect({ returncode, paths: files.map(({ path }) => path) }).toEqual({
        returncode: 124,
        paths: ["half.txt"],
      });
    });

    it("makes files of so many bytes; the rest is left out, and that is said", async () => {
      const code = "for n in range(3): open(f'{n}.txt', 'w').write('x' * 9000)";
      const { stderr, files } = await runCode({ language: "python", code });
      expect(files).toHaveLength(2);
      expect(stderr).toBe(
        "[sandbox: files that it made are missing: maxMadeBytes is 20000, maxMadeFiles 256]\n",
      );
      const much = await runCode({ language: "python", code: "open('x', 'w').write('x' * 9000000)" });
      expect(much).toMatchObject({ files: [], stderr: expect.stringContaining("maxMadeBytes is 20000") });
    });

    it("has its files kept until there are too many", async () => {
      const code = "open('a.txt', 'w').write('x' * 11000)";
      const uris = [];
      for (let turn = 0; turn < 3; turn++)
        uris.push((await runCode({ language: "python", code })).files[0]?.uri ?? "");
      await expect(read(uris[0] ?? "")).rejects.toThrow("not found");
      expect(await read(uris[2] ?? "")).toMatchObject({ mimeType: "text/plain" });
    });

    it.each([
      [{ path: "../x", content: "" }],
      [{ path: "/etc/x", content: "" }],
      [{ path: "a/./b", content: "" }],
      [{ path: "a\nb", content: "" }],
      [{ path: "", content: "" }],
      [{ path: "big", content: "x".repeat(10_001) }],
    ])("refuses a file that is %j", async (file) => {
      expect(await failure({ language: "node", code: "", files: [file] })).toContain("files");
    });

    it("refuses a language that it does not speak, and code that is too long", async () => {
      expect(await failure({ language: "ruby", code: "" })).toContain("language");
      expect(await failure({ language: "node", code: "x".repeat(10_001) })).toContain(
        "maxInputBytes allows (10000)",
      );
    });

    it("sees nothing of the one before", async () => {
      await runCode({ language: "python", code: "open('/tmp/x', 'w'); open('x', 'w')" });
      const code = "import os; print(os.listdir('/tmp'), os.listdir('.'))";
      expect(await runCode({ language: "python", code })).toMatchObject({ stdout: "[] ['main.py']\n" });
    });
  });

  describe.each([
    {
      language: "python",
      set: "x = 40\nimport os\nif os.system('echo from a child'): raise SystemExit",
      show: "print(x + 2)",
      fail: "def f():\n    raise KeyError('wrong')\nf()",
      failed:
        /Traceback.*\n {2}File "<call 3>", line 3, in <module>\n(?:.*\n)*.*line 2, in f\n {4}raise KeyError\('wrong'\)\n(?:.*\n)*KeyError: 'wrong'\n$/,
      broken: "def f(:",
      write:
        "import os\nos.makedirs('d', exist_ok=True)\nopen('d/f.txt', 'w').write(open('in.txt').read() + '!')",
      loop: "while True: pass",
      exit: "import os; os._exit(9)",
    },
    {
      language: "node",
      set: "const x = 40; require('child_process').execSync('echo from a child', { stdio: 'inherit' })",
      show: "console.log(await Promise.resolve(x + 2))",
      fail: "function f() { throw new RangeError('wrong') }\nf()",
      failed: /^Uncaught RangeError: wrong\n {4}at f \(<anonymous>:1:22\)\n {4}at <anonymous>:2:1\n$/,
      broken: "const = 1",
      write:
        "const fs = require('fs'); fs.mkdirSync('d', { recursive: true }); fs.writeFileSync('d/f.txt', fs.readFileSync('in.txt', 'utf8') + '!')",
      loop: "while (true);",
      exit: "process.exit(9)",
    },
  ])("a session of $language", ({ language, set, show, fail, failed, broken, write, loop, exit }) => {
    it("keeps variables and files, outlives errors, and ends with a call that takes too long", async () => {
      const session = await start(language);
      const call = (code: string, more: object = {}) => runCode({ language, session, code, ...more });
      expect(await call(set)).toEqual({ ...NOTHING, returncode: 0, stdout: "from a child\n" });
      expect(await call(show)).toEqual({ ...NOTHING, returncode: 0, stdout: "42\n" });
      const wrong = await call(fail);
      expect(wrong).toMatchObject({ returncode: 1, stdout: "" });
      expect(wrong.stderr).toMatch(failed);
      expect(await call(broken)).toMatchObject({
        returncode: 1,
        stderr: expect.stringContaining("SyntaxError"),
      });

      const { files } = await call(write, { files: [{ path: "in.txt", content: "given" }] });
      expect(files.map(({ path }) => path)).toEqual(["d/f.txt"]);
      expect(await read(files[0]?.uri ?? "")).toMatchObject({ text: "given!" });
      expect((await call(show)).files).toEqual([]);

      // Calls that come together run one after the other, and each has its own output.
      const together = await Promise.all([call(show), call(fail), call(show)]);
      expect(together.map(({ stdout }) => stdout)).toEqual(["42\n", "", "42\n"]);

      expect(await failure({ language, session, code: show, stdin: "" })).toBe(
        "stdin is for calls without a session",
      );
      const other = language === "node" ? "python" : "node";
      expect(await failure({ language: other, session, code: "" })).toBe(
        `this is a session of ${language}, not of ${other}`,
      );

      const ended = "[sandbox: the session has ended, with all that was in it]\n";
      expect(await call(loop, { timeout: 0.3 })).toEqual({
        ...NOTHING,
        returncode: 124,
        stdout: "",
        stderr: `[sandbox: it took longer than its timeout of 0.3 s, and was ended]\n${ended}`,
      });
      expect(await failure({ language, session, code: show })).toContain("there is no session");
      const last = await start(language);
      expect(await runCode({ language, session: last, code: exit })).toEqual({
        ...NOTHING,
        returncode: 9,
        stdout: "",
        stderr: ended,
      });
      expect(await failure({ language, session: last, code: show })).toContain(
        "start one with start_session",
      );
    });
  });

  describe("sessions", () => {
    it("end when they are told to, and when a call is cancelled", async () => {
      const session = await start("python");
      expect(textOf(await client.callTool("end_session", { session }))).toBe("ended");
      expect(await failure({ session }, "end_session")).toContain("there is no session");

      const other = await start("python");
      const cancel = new AbortController();
      const code = "import time\nprint('begun')\ntime.sleep(60)";
      const options = { signal: cancel.signal, onProgress: () => cancel.abort() };
      await expect(
        client.callTool("run_code", { language: "python", session: other, code }, options),
      ).rejects.toThrow();
      await vi.waitFor(async () => {
        expect(await failure({ language: "python", session: other, code: "" })).toContain(
          "there is no session",
        );
      }, WAIT);
    });

    it("end when nobody uses them", async () => {
      const idle = await connect(await createCode({ sessionIdle: 50 }));
      const session = await start("python", idle);
      await vi.waitFor(async () => {
        expect(await failure({ session: `${session}` }, "end_session", idle)).toContain(
          "there is no session",
        );
      }, WAIT);
      await idle.close();
    });

    it("are so many", async () => {
      const few = await connect(await createCode({ maxSessions: 1 }));
      const session = await start("python", few);
      expect(await failure({ language: "python" }, "start_session", few)).toContain(
        "as maxSessions allows (1)",
      );
      await few.callTool("end_session", { session });
      await few.callTool("end_session", { session: await start("python", few) });
      await few.close();
    });

    it("and files are whose made them: nobody else finds them", async () => {
      const users = await serveUsers(server, ["ada", "eve"]);
      const [ada, eve] = users.clients as [Client, Client];
      const session = await start("python", ada);
      const language = "python";
      const { files } = await runCode(
        { language, session, code: "x = 'secret'\nopen('x', 'w').write(x)" },
        ada,
      );
      const uri = files[0]?.uri ?? "";
      for (const other of [eve, client]) {
        expect(await failure({ language, session, code: "print(x)" }, "run_code", other)).toContain(
          "there is no session",
        );
        expect(await failure({ session }, "end_session", other)).toContain("there is no session");
        await expect(read(uri, other)).rejects.toThrow("not found");
      }
      expect(await read(uri, ada)).toMatchObject({ text: "secret" });
      expect(await failure({ language }, "start_session", ada)).toContain(
        "as maxSessionsPerPrincipal allows (1)",
      );
      await eve.callTool("end_session", { session: await start("python", eve) });
      await ada.callTool("end_session", { session });
      await users.close();
    });

    it("may say of themselves what they like: it is theirs alone", async () => {
      const session = await start("python");
      const code = (line: string) => `import os\nos.write(4, ${line})\n`;
      const huge = {
        language: "python",
        session,
        code: code('b\'{"returncode": 0, "files": {"../x": "", "ok": "AA=="}}\\n\''),
      };
      expect((await runCode(huge)).files.map(({ path }) => path)).toEqual(["ok"]);
      await client.callTool("end_session", { session });
      const other = await start("python");
      expect(
        await runCode({ language: "python", session: other, code: code("b'nonsense\\n'") }),
      ).toMatchObject({ returncode: 1 });
      await client.callTool("end_session", { session: other });
    });
  });

  it("offers no session and no code where there is no sandbox", async () => {
    const told = vi.spyOn(console, "error").mockImplementation(() => {});
    const platform = Object.getOwnPropertyDescriptor(process, "platform") as PropertyDescriptor;
    Object.defineProperty(process, "platform", { ...platform, value: "win32" });
    const nothing = await connect(await createCode());
    Object.defineProperty(process, "platform", platform);
    expect(told).toHaveBeenCalledWith(expect.stringContaining("[code] sandbox unavailable: "));
    told.mockRestore();
    expect(await nothing.listTools()).toEqual([]);
    for (const tool of ["run_code", "start_session", "end_session"])
      await expect(nothing.callTool(tool)).rejects.toThrow("install bubblewrap or allow user namespaces");
    await nothing.close();
  });
});
