// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own variables
/** ask, chat and doctor, as processes, with the rule planner. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { AFTER, begin, emptyFolder, FIXTURE, isAlive, run } from "./patchbay.ts";

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
const PLANNER = "rule planner (not an AI model)";

describe("ask", () => {
  it("prints the answer on stdout and the steps on stderr", async () => {
    const { code, stdout, stderr } = await patchbay("ask", "564*34+12.4/455**2");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[^\n]*19176\.0000598961[^\n]*\n$/);
    expect(stderr).toContain(PLANNER);
    expect(stderr).toMatch(/→ calculator: calculator \{"expression":"564\*34\+12\.4\/455\*\*2"\}/);
    expect(stderr).toMatch(/✓ calculator: calculator took \d+(\.\d+)? m?s/);
  });

  it("takes arithmetic that begins with a minus", async () => {
    expect((await patchbay("ask", "-3+5")).stdout).toMatch(/2/);
  });

  it("--json prints the answer, the model and the steps", async () => {
    const { code, stdout } = await patchbay("ask", "1+1", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      answer: expect.stringContaining("2"),
      model: PLANNER,
      steps: [{ server: "calculator", tool: "calculator", arguments: { expression: "1+1" }, isError: false }],
    });
  });

  it("makes no answer up: exit 1, stdout empty, and what could be asked", async () => {
    const { code, stdout, stderr } = await patchbay("ask", "add two numbers for me, please");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/add/);
    expect(stderr).toMatch(/API_KEY/);
    const json = await patchbay("ask", "hello", "--json");
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { kind: "failed" } });
  });

  it("exits 1 when the tool failed", async () => {
    const { code, stdout, stderr } = await patchbay("ask", "1/0");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/✗ calculator: calculator failed after/);
  });

  it("uses the server after --, and those of --server", async () => {
    expect(await patchbay("ask", 'echo {"text":"hi"}', "--yes", ...AFTER)).toMatchObject({
      code: 0,
      stdout: "hi\n",
    });
    const one = await patchbay("ask", "add a number", "--server", "calculator");
    expect(one.stderr).not.toMatch(/get_weather/);
  });

  it("uses the servers of the configuration, and goes on without one that is down", async () => {
    const up = { command: process.execPath, args: [FIXTURE] };
    const down = { url: "http://127.0.0.1:9/mcp" };
    const file = join(cwd, "mcp.json");
    writeFileSync(file, JSON.stringify({ mcpServers: { up, down } }));
    const { code, stdout, stderr } = await patchbay("ask", 'echo {"text":"hi"}', "--yes");
    expect([code, stdout]).toEqual([0, "hi\n"]);
    expect(stderr).toMatch(/warning: down: .*left out/);
    expect(await patchbay("ask", "1", "--server", "down")).toMatchObject({ code: 3, stdout: "" });
    writeFileSync(file, JSON.stringify({ mcpServers: { down } }));
    expect((await patchbay("ask", "1+1")).code).toBe(3);
  });

  it("says what is wrong with the model's settings: exit 2", async () => {
    const { code, stderr } = await run(["ask", "1+1"], { cwd, env: { MODEL_PROVIDER: "opnai" } });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/MODEL_PROVIDER is "opnai"/)]);
  });

  it("SIGINT ends the tool, its server, and us", async () => {
    const { child, said, ended } = begin(["ask", "hang {}", "--yes", ...AFTER], { cwd });
    const [, pid] = await said("stderr", /pid (\d+)/);
    child.kill("SIGINT");
    expect((await ended).code).toBe(130);
    expect(isAlive(Number(pid))).toBe(false);
  });
});

describe("chat", () => {
  it("answers line by line from a pipe, until exit", async () => {
    const { code, stdout, stderr } = await run(["chat"], { cwd, input: "1+1\n\n2*21\nexit\n3+3\n" });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^user > 1\+1\nassistant > .*2.*\nuser > 2\*21\nassistant > .*42.*\n$/);
    expect(stderr).toContain(`${PLANNER}, with the tools of calculator, weather.`);
  });

  it("goes on after a turn that failed, and ends with its input", async () => {
    const { code, stdout } = await run(["chat"], { cwd, input: "1/0\nhello\n40+2" });
    expect(code).toBe(0);
    expect(stdout).toMatch(/assistant > [^\n]*42[^\n]*\n$/);
  });

  it("--json prints one value for each turn", async () => {
    const { stdout } = await run(["chat", "--json"], { cwd, input: "1+1\n2+2\nquit\n" });
    const turns = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(turns.map(({ question, ok }) => [question, ok])).toEqual([
      ["1+1", true],
      ["2+2", true],
    ]);
  });

  it("SIGINT ends it and its servers: exit 130", async () => {
    const { child, said, ended } = begin(["chat", "--yes", ...AFTER], { cwd });
    child.stdin.write("hang {}\n");
    const [, pid] = await said("stderr", /pid (\d+)/);
    child.kill("SIGINT");
    expect((await ended).code).toBe(130);
    expect(isAlive(Number(pid))).toBe(false);
  });
});

describe("doctor", () => {
  it("is ok where all is well, and shows no key", async () => {
    const env = { MODEL_PROVIDER: "openai", OPENAI_API_KEY: "sk-canary-123" };
    const { code, stdout, stderr } = await run(["doctor"], { cwd, env });
    expect(stdout).toMatch(/✓ Node\.js \d+/);
    expect(stdout).toMatch(/OPENAI_API_KEY is set\n[\s\S]*ANTHROPIC_API_KEY is not set/);
    expect(stdout).toMatch(/✓ calculator: .*2026-07-28, tools: add, calculator\n/);
    expect(stdout).toMatch(/\nok\n$/);
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain("canary");
  });

  it("names each problem, and exits 1", async () => {
    const servers = {
      up: { command: process.execPath, args: [FIXTURE] },
      down: { url: "http://127.0.0.1:9/mcp" },
    };
    const unset = { command: "${PATCHBAY_UNSET}" };
    writeFileSync(join(cwd, "mcp.json"), JSON.stringify({ mcpServers: { ...servers, unset } }));
    const { code, stdout } = await patchbay("doctor", "--yes");
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /✓ up: fixture 1\.0\.0[\s\S]*✗ down: [\s\S]*✗ unset: .*PATCHBAY_UNSET is not set[\s\S]*2 problems/,
    );
    const json = await patchbay("doctor", "--json", "--yes");
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      servers: [{ ok: true }, { ok: false }, { ok: false }],
    });
  });

  it("names the step that failed and what to do, and says where each value comes from", async () => {
    const node = (code: string) => ({ command: process.execPath, args: ["-e", code] });
    const servers = {
      gone: { command: "no-such-program-anywhere" },
      dead: node("console.error('last words'); process.exit(7)"),
      echoes: node("process.stdin.pipe(process.stdout)"),
      far: { url: "http://127.0.0.1:9/mcp" },
      off: { command: "x", disabled: true },
      up: {
        command: process.execPath,
        args: [FIXTURE],
        env: { A: "${FROM_SHELL}", B: "${FROM_FILE}", C: "${NONE:-c}", D: "d" },
      },
    };
    writeFileSync(join(cwd, "mcp.json"), JSON.stringify({ mcpServers: servers, extra: 1 }));
    writeFileSync(join(cwd, ".env"), "FROM_FILE=canary-1\nTAVILY_API_KEY=canary-2\n");
    const env = { FROM_SHELL: "canary-3", MCP_TOOL_TIMEOUT_MS: "5000" };
    const { code, stdout, stderr } = await run(["doctor", "--yes"], { cwd, env });
    expect([code, stderr]).toEqual([1, ""]);
    for (const line of [
      /✗ gone: start: Could not start "no-such-program-anywhere": .*\n {2}→ Run its command by hand/,
      /✗ dead: start: .* exited with code 7.*last words\n {2}→ Run its command by hand/,
      /✗ echoes: handshake: .* sends back what it is sent\n {2}→ Look whether it is an MCP server/,
      /✗ far: connection: .*nothing listens.*\n {2}→ Look whether the server runs/,
      /- off: disabled \(mcp\.json: mcpServers\.off\)\n/,
      /✓ up: fixture 1\.0\.0, 2026-07-28, tools: .*, resources: 3, prompts: 1\n/,
      /✓ configuration: mcp\.json\n {2}! mcp\.json: extra is unknown and ignored\n/,
      / {2}TAVILY_API_KEY is set \(\.env\)\n/,
      / {2}MCP_TOOL_TIMEOUT_MS is set \(environment\)\n/,
      /\n4 problems\n$/,
    ])
      expect(stdout).toMatch(line);
    expect(stdout).not.toContain("canary");
    const json = await run(["doctor", "--json", "--yes"], { cwd, env });
    const { servers: told, ...report } = JSON.parse(json.stdout);
    expect(report).toMatchObject({
      ok: false,
      node: { ok: true },
      variables: { TAVILY_API_KEY: ".env", MCP_TOOL_TIMEOUT_MS: "environment" },
      configuration: { ok: true, files: ["mcp.json"], warnings: [expect.stringContaining("extra")] },
    });
    const up = told.find(({ name }: { name: string }) => name === "up");
    expect(up).toMatchObject({
      ok: true,
      from: "mcp.json: mcpServers.up",
      era: "modern",
      variables: { FROM_SHELL: "environment", FROM_FILE: ".env", NONE: "default", D: "mcp.json" },
      steps: ["configuration", "start", "handshake", "tools", "resources", "prompts", "schemas"],
    });
    expect(told.find(({ name }: { name: string }) => name === "echoes")).toMatchObject({
      failed: "handshake",
      steps: ["configuration"],
    });
  });

  it("tells of a broken configuration", async () => {
    writeFileSync(join(cwd, "mcp.json"), "{");
    expect(await patchbay("doctor")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/✗ configuration: mcp\.json:1:2: not JSON/),
    });
  });
});
