/** The soak and the fault run, in their short forms. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { needs } from "../../scripts/test/needs.ts";

const RUN = fileURLToPath(new URL("../run.mjs", import.meta.url));

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

interface Report {
  fine: boolean;
  wrong: object;
  counts: Record<string, number>;
}

async function run(...args: string[]): Promise<{ code: number; report: Report }> {
  const child = spawn(process.execPath, [RUN, "--json", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return { code, report: JSON.parse(stdout) };
}

test.each([
  [["--second", "5"], "Unknown option '--second'"],
  [["--seconds", "soon"], '--seconds takes a number of 5 or more, not "soon"'],
  [["--faults", "--clients", "0"], '--clients takes a number of 1 or more, not "0"'],
])("what cannot be run is said in a line: %j", async (words, why) => {
  const child = spawn(process.execPath, [RUN, ...words], { stdio: ["ignore", "ignore", "pipe"] });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect([code, said.split("\n")[0]]).toEqual([2, why]);
});

test("a server keeps its memory and its descriptors while clients of all kinds come, misbehave and go", async () => {
  const { code, report } = await run("--seconds", "18");
  expect(report.wrong).toEqual({});
  expect(code).toBe(0);
  for (const what of ["sessions left", "clients vanished", "half-open sockets cut off"]) {
    expect(report.counts[what], what).toBeGreaterThan(0);
  }
});

needs("haproxy", "redis-server")("with instances that are killed and a Redis that restarts", () => {
  test("every call ends right or in a clear error; no step is done twice", async () => {
    const { code, report } = await run("--faults", "--seconds", "13", "--clients", "12");
    expect(report.wrong).toEqual({});
    expect(code).toBe(0);
    expect(report.counts).toMatchObject({ "restarts of Redis": 2 });
    for (const what of ["instances killed", "right: charge, legacy", "right: charge, modern"]) {
      expect(report.counts[what], what).toBeGreaterThan(0);
    }
  });
});
