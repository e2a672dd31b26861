/** `--record` and `replay`: what was asked happens again, and where it does not the exit code says so. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { run } from "./patchbay.ts";
import { workplace } from "./workplace.ts";

const place = workplace();
const SECRET = "a-secret-that-nobody-should-see";
const URL = "redis://me:a-password-of-redis@127.0.0.1";
const SECRETS = { SOME_API_KEY: SECRET, my_token: "in-small-letters", REDIS_URL: URL };
const patchbay = (...words: string[]) =>
  run(words, { cwd: place.cwd, env: { MODEL_PROVIDER: "rules", ...SECRETS } });

function recordings(): string[] {
  return readdirSync(join(place.cwd, "kept")).map((name) => join(place.cwd, "kept", name));
}

it("records a turn, and replays it", async () => {
  const asked = await patchbay("ask", `add: 19 23`, "--server", "calculator", "--record", "kept");
  expect(asked).toMatchObject({
    code: 0,
    stdout: "42\n",
    stderr: expect.stringContaining("recorded in kept"),
  });
  const [file = ""] = recordings();
  expect(await patchbay("replay", file)).toMatchObject({
    code: 0,
    stdout: "42\n",
    stderr: expect.stringContaining("As it was recorded"),
  });

  // The server says something else than it did.
  const lines = readFileSync(file, "utf8").split("\n");
  const answered = lines.findLastIndex((line) => line.includes('"received"') && line.includes("42"));
  lines[answered] = (lines[answered] as string).replaceAll("42", "43");
  writeFileSync(file, lines.join("\n"));
  const other = await patchbay("replay", file, "--json");
  expect(other.code).toBe(1);
  expect(JSON.parse(other.stdout)).toMatchObject({
    same: false,
    differences: expect.arrayContaining([expect.stringContaining("42")]),
  });
});

it("keeps no secret of the environment", async () => {
  const words = [
    "ask",
    `rewrite_me: ${Object.values(SECRETS).join(" ")}`,
    "--server",
    "calculator",
    "--record",
    "kept",
  ];
  await patchbay(...words);
  const [file = ""] = recordings();
  expect(readFileSync(file, "utf8")).toContain("[SOME_API_KEY]");
  for (const secret of Object.values(SECRETS)) expect(readFileSync(file, "utf8")).not.toContain(secret);
});

it("says what cannot be read or written", async () => {
  expect(await patchbay("replay", "none.jsonl")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("there is no such file"),
  });
  writeFileSync(join(place.cwd, "taken"), "");
  expect(await patchbay("ask", "1+1", "--server", "calculator", "--record", "taken")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Nothing can be recorded in taken"),
  });
});
