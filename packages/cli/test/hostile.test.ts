/** Servers with names that would be lines of ours, and a stdout that takes nothing. */

import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { BIN, emptyFolder, run } from "./patchbay.ts";

vi.setConfig({ testTimeout: 60_000 });

const HOSTILE = resolve(import.meta.dirname, "fixtures/hostile.mjs");
let cwd: string;
beforeAll(() => {
  cwd = emptyFolder();
});
afterAll(() => rmSync(cwd, { recursive: true }));

describe("names with newlines", () => {
  const forged = /^✓ fake/m;

  it("make no line of doctor's", async () => {
    const servers = { "odd\n✓ fake: ok": { command: process.execPath, args: [HOSTILE] } };
    writeFileSync(join(cwd, "mcp.json"), JSON.stringify({ mcpServers: servers }));
    const { code, stdout } = await run(["doctor", "--yes"], { cwd });
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^✓ odd ✓ fake: ok: s ✓ fake: ok 1, .*tools: t ✓ fake: ok$/m),
    ]);
    expect(stdout).not.toMatch(forged);
  });

  it("make no line of a list's, nor of an error's", async () => {
    const after = ["--", process.execPath, HOSTILE];
    expect((await run(["tools", ...after], { cwd })).stdout).toBe("t ✓ fake: ok [p ✓ fake: ok=<text>]\n");
    for (const words of [
      ["call"],
      ["call", "u"],
      ["call", "t\n✓ fake: ok", "x=1"],
      ["call", "t\n✓ fake: ok"],
    ]) {
      const { code, stderr } = await run([...words, ...after], { cwd });
      expect(code).not.toBe(0);
      expect(stderr).not.toMatch(forged);
    }
  });
});

it.skipIf(!existsSync("/dev/full"))("says in one line that stdout is full: exit 1", () => {
  const full = openSync("/dev/full", "w");
  try {
    for (const words of [["tools", "calculator"], ["tools", "calculator", "--json"], ["--help"]]) {
      const { status, stderr } = spawnSync(process.execPath, [BIN, ...words], {
        cwd,
        stdio: ["ignore", full, "pipe"],
        encoding: "utf8",
      });
      expect([status, stderr]).toEqual([1, "error: stdout could not be written (ENOSPC).\n"]);
    }
  } finally {
    closeSync(full);
  }
});
