/** serve, and how every command ends: signals and broken pipes. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { AFTER, BIN, begin, emptyFolder, FIXTURE, isAlive, type Run, run } from "./patchbay.ts";

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

describe("serve", () => {
  let served: Run;
  let url: string;
  beforeAll(async () => {
    const folder = emptyFolder();
    folders.push(folder);
    served = begin(["serve", FIXTURE, "--http", "0"], { cwd: folder });
    url = (await served.said("stderr", /served at (http:\/\/127\.0\.0\.1:\d+\/mcp)/))[1] as string;
  });
  afterAll(async () => {
    served.child.kill("SIGTERM");
    expect(await served.ended).toMatchObject({ code: 0, signal: null, stdout: "" });
  });

  it("a module over HTTP, to any command", async () => {
    expect(await patchbay("call", url, "echo", "text=hi")).toMatchObject({ code: 0, stdout: "hi\n" });
  });

  it("says when the port is taken", async () => {
    const { code, stderr } = await patchbay("serve", "calculator", "--http", new URL(url).port);
    expect(code).toBe(1);
    expect(stderr).toMatch(/Port \d+ is taken/);
  });

  it("tells its URL as JSON, at a path of one's own, and stops on SIGINT", async () => {
    const { child, said, ended } = begin(["serve", "calculator", "--http", "0", "--path", "/x", "--json"], {
      cwd,
    });
    const [, text] = await said("stdout", /^(.*)\n/);
    expect(new URL(JSON.parse(text as string).url).pathname).toBe("/x");
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 0, signal: null });
  });

  it("over stdio until the client hangs up", async () => {
    const { code, stdout } = await run(["serve", "calculator"], { cwd, input: "not JSON\n" });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ jsonrpc: "2.0", error: { code: -32700 } });
  });

  it("all built-in servers in one, with what each is told", async () => {
    const { code, stdout } = await patchbay(
      "tools",
      "--json",
      "--",
      "node",
      BIN,
      "serve",
      "all",
      "--without",
      "weather",
    );
    expect(code).toBe(0);
    const names = (JSON.parse(stdout) as { tools: { name: string }[] }).tools.map(({ name }) => name);
    expect(names).toContain("calculator_add");
    expect(names).not.toContain("weather_get_weather");
  });

  it("says what a built-in is told wrong, and has help for each", async () => {
    expect(await patchbay("serve", "all", "--without", "wether")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean "weather"?'),
    });
    expect(await patchbay("serve", "all", "--witout", "weather")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--without"),
    });
    expect(await patchbay("serve", "calculator", "more")).toMatchObject({ code: 2 });
    expect((await patchbay("serve", "all", "--help")).stdout).toContain("--without <name>");
    expect((await patchbay("serve", "--help")).stdout).toMatch(/calculator .*Arithmetic/);
  });

  it("says what a module lacks", async () => {
    writeFileSync(join(cwd, "empty.mjs"), "export const nothing = 1;");
    const { code, stderr } = await patchbay("serve", "./empty.mjs");
    expect([code, stderr]).toEqual([2, expect.stringMatching(/exports no McpServer/)]);
  });

  it.each([
    [
      "const a = 1;\nfunction f() {\n  throw new TypeError('boom');\n}\nf();\n",
      "bad.mjs:3:9: TypeError: boom",
    ],
    ["const a = 1;\n\nfoo(;\n", "bad.mjs:3: SyntaxError: Unexpected token ';'"],
    ["import './deep.mjs';\n", "deep.mjs:1:7: boom"],
    ["throw 'words';\n", "words"],
  ])("says where a module is wrong: %j", async (text, where) => {
    writeFileSync(join(cwd, "bad.mjs"), text);
    writeFileSync(join(cwd, "deep.mjs"), "throw new Error('boom');");
    expect(await patchbay("serve", "./bad.mjs")).toEqual({
      code: 1,
      signal: null,
      stdout: "",
      stderr: `error: ./bad.mjs could not be loaded: ${where}\n`,
    });
  });
});

describe("ends in order", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("on %s: the call is cancelled and the server's process is gone", async (signal, expected) => {
    const { child, said, ended } = begin(["call", "hang", "--json", ...AFTER], { cwd });
    const [, pid] = await said("stderr", /pid (\d+)/);
    expect(isAlive(Number(pid))).toBe(true);
    child.kill(signal);
    const { code, stdout } = await ended;
    expect(code).toBe(expected);
    expect(JSON.parse(stdout)).toMatchObject({ error: { kind: "interrupted" } });
    expect(isAlive(Number(pid))).toBe(false);
  });

  it("is quiet when the reader has seen enough", async () => {
    const { child, ended } = begin(["call", "many", ...AFTER], { cwd });
    child.stdout.once("data", () => child.stdout.destroy());
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
  });
});
