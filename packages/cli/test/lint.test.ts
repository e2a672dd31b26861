/** `patchbay lint`: what each provider is told of a server's tools, and what not. */

import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test, vi } from "vitest";
import { begin, emptyFolder } from "./patchbay.ts";

vi.setConfig({ testTimeout: 60_000 });

const folder = emptyFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const patchbay = (words: string[]) => begin(words, { cwd: folder }).ended;
const ODD = ["--", process.execPath, fileURLToPath(new URL("./fixtures/odd-tools.mjs", import.meta.url))];

test("says nothing of tools that lose nothing", async () => {
  const { code, stdout } = await patchbay(["lint", "calculator", "--provider", "claude"]);
  expect(stdout).toBe("2 tools, 0 that cannot be offered (Anthropic Messages)\n");
  expect(code).toBe(0);
});

test("names what is lost, what is renamed, and what cannot be offered: exit 1", async () => {
  const { code, stdout } = await patchbay(["lint", "--provider", "gemini", "--provider", "openai", ...ODD]);
  expect(stdout.split("\n")).toEqual([
    "files/read",
    "  gemini: is called files_read",
    "  gemini: is not told link: format",
    "  openai: is called files_read",
    "elsewhere",
    expect.stringMatching(
      /^ {2}gemini: cannot be offered: its input schema is wrong: .*points outside the schema/,
    ),
    expect.stringMatching(/^ {2}openai: cannot be offered: .*points outside the schema/),
    "2 tools, 1 that cannot be offered (Gemini, OpenAI Chat Completions)",
    "",
  ]);
  expect(code).toBe(1);
});

test("--json gives one value, for every provider where none is named", async () => {
  const { code, stdout } = await patchbay(["lint", "--json", ...ODD]);
  const { ok, tools, providers, findings } = JSON.parse(stdout);
  expect({ ok, tools }).toEqual({ ok: false, tools: 2 });
  expect(providers).toEqual(["openai", "openai-responses", "anthropic", "gemini", "deepseek", "ollama"]);
  expect(findings).toHaveLength(12);
  expect(findings).toContainEqual({
    tool: "files/read",
    provider: "ollama",
    name: "files_read",
    lost: ["link: format"],
  });
  expect(code).toBe(1);
});

test("a provider that there is not is wrong usage", async () => {
  const { code, stderr } = await patchbay(["lint", "calculator", "--provider", "gemni"]);
  expect(stderr).toMatch(/There is no provider "gemni".*Did you mean "gemini"\?/s);
  expect(code).toBe(2);
});

test("doctor tells the same of the provider that would be asked", async () => {
  const env = { MODEL_PROVIDER: "gemini", GEMINI_API_KEY: "a-key-that-is-not-used" };
  const { stdout, stderr } = await begin(["doctor", ...ODD], { cwd: folder, env }).ended;
  const told = stdout + stderr;
  expect(told).toMatch(/elsewhere cannot be offered to Gemini/);
  expect(told).toMatch(
    /1 schema is told to Gemini .* less exactly than written; patchbay lint .*--provider gemini/,
  );
});
