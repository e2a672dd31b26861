/** What may happen is asked on a terminal, denied without one, and agreed to by --yes. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import type { ToolApproval } from "@patchbay/host";
import { describe, expect, it, vi } from "vitest";
import { askApproval, described } from "../src/approvals.ts";
import { AFTER, FIXTURE, run } from "./patchbay.ts";
import { workplace } from "./workplace.ts";

// Each test starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

const place = workplace();
const request: ToolApproval = {
  kind: "tool",
  id: "1",
  server: "office\u001B[2J",
  tool: "send_mail",
  arguments: { to: "ann@example.com", text: "hi\u202E there\u001B[31m" },
  annotations: {},
  untrusted: false,
  why: "It may send something.",
  choices: ["once", "session", "deny"],
};

async function answered(typed: string) {
  const input = new PassThrough();
  const output = new PassThrough();
  const answering = askApproval(request, new AbortController().signal, { input, output });
  input.end(typed);
  const answer = await answering;
  return { answer, shown: String(output.read()) };
}

describe("on a terminal", () => {
  it("shows who wants what, with all arguments, free of what hides or moves", () => {
    const text = described(request);
    expect(text).toContain("office\\u{1b}[2J is to run send_mail");
    expect(text).toContain('"text": "hi\\u202e there\\u001b[31m"');
    expect(text).not.toMatch(/[\u001B\u202E]/);
  });

  it.each([
    ["y\n", "once"],
    ["once\n", "once"],
    ["s\n", "session"],
    ["n\n", "deny"],
    ["\n\nwhat?\ny\n", "once"],
    ["a\nn\n", "deny"],
    ["", "deny"],
  ])("takes %j for %s, and nothing else for yes", async (typed, answer) => {
    expect((await answered(typed)).answer).toBe(answer);
  });

  it("names the choices that there are", async () => {
    expect((await answered("n\n")).shown).toMatch(/\[y\]es, this time, for this \[s\]ession, \[n\]o: /);
  });
});

describe("the configuration's rules", () => {
  const configure = (file: string, approvals: object) => {
    const fixture = { command: process.execPath, args: [FIXTURE] };
    mkdirSync(dirname(join(place.cwd, file)), { recursive: true });
    writeFileSync(join(place.cwd, file), JSON.stringify({ mcpServers: { fixture }, approvals }));
  };
  const ask = (...words: string[]) => run(["ask", 'echo {"text":"hi"}', ...words], { cwd: place.cwd });

  it("allow in the user's own file, and in one that is named", async () => {
    configure("patchbay/mcp.json", { allow: ["fixture/echo(text=h*)"] });
    expect(await ask()).toMatchObject({ code: 0, stdout: "hi\n" });
    configure("named.json", { allow: ["fixture"] });
    expect(await ask("--config", "named.json")).toMatchObject({ code: 0, stdout: "hi\n" });
  });

  it("allow nothing in a folder's own file, and deny there too", async () => {
    configure("mcp.json", { allow: ["*"], deny: ["fixture/fail"] });
    expect((await run(["approve"], { cwd: place.cwd })).code).toBe(0);
    const refused = await ask();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/mcp\.json: approvals\.allow counts in your own mcp\.json/);
    configure("mcp.json", { deny: ["fixture/echo"] });
    expect(await ask("--yes")).toMatchObject({ code: 1, stderr: expect.stringContaining("denies it") });
  });

  it("are refused by name where they are none", async () => {
    configure("mcp.json", { deny: ["fixture/echo("] });
    expect(await ask("--yes")).toMatchObject({ code: 2, stderr: expect.stringContaining('"fixture/echo("') });
    configure("mcp.json", { forbid: [] });
    expect(await ask()).toMatchObject({ code: 2, stderr: expect.stringContaining("approvals") });
  });
});

describe("without a terminal", () => {
  it("denies what would be asked, says so, and exits 1", async () => {
    const { code, stdout, stderr } = await run(["ask", 'echo {"text":"hi"}', ...AFTER], { cwd: place.cwd });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/warning: denied, as nobody is here to be asked: .*echo.*--yes/);
  });

  it("does it with --yes", async () => {
    const { code, stdout } = await run(["ask", 'echo {"text":"hi"}', "--yes", ...AFTER], { cwd: place.cwd });
    expect([code, stdout]).toEqual([0, "hi\n"]);
  });
});
