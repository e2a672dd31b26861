/** Whole process trees end: with the client, and with us, whatever becomes of us. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, describe, expect, test, vi } from "vitest";
import { connect } from "../src/index.ts";
import { commandsBelow, fixture, fixturePath, runs } from "./processes.ts";

/** Whatever a failed test has left. Some run at the same time: they are all over by then. */
const started: number[] = [];
afterAll(() => {
  for (const pid of started.splice(0)) if (runs(pid)) process.kill(pid, "SIGKILL");
});

/** Each test starts several processes, one after the other: a busy machine takes its time. */
const SLOW = { timeout: 90_000 };

const TREES: [string, string[]][] = [
  ["a server that refuses, and so does its child", ["stubborn.mjs"]],
  ["a wrapper and its server", ["wrapping.mjs", "wrapper"]],
  ["a process in a session of its own", ["wrapping.mjs", "escaping"]],
];

async function pidsOf(text: string): Promise<number[]> {
  const pids: number[] = JSON.parse(text);
  started.push(...pids);
  expect(pids.map(runs)).toEqual(pids.map(() => true));
  return pids;
}

describe.skipIf(process.platform !== "linux")("closing ends", SLOW, () => {
  const HIDDEN: [string, string[]] = [
    "one that has neither our group nor our mark",
    ["wrapping.mjs", "hidden"],
  ];

  test.each([...TREES, HIDDEN])("%s", async (_, [file = "", ...args]) => {
    const client = await connect(fixture(file, ...args), { closeTimeout: 200 });
    const { content } = await client.callTool("pids");
    const pids = await pidsOf((content[0] as { text: string }).text);
    expect(pids).toHaveLength(2);
    await client.close();
    expect(pids.map(runs)).toEqual([false, false]);
  });
});

describe.skipIf(process.platform !== "linux")("our own end", SLOW, () => {
  async function program(how: string, args: string[]): Promise<{ own: ChildProcess; pids: number[] }> {
    const own = spawn(process.execPath, [fixturePath("orphaning.mjs"), how, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (own.pid !== undefined) started.push(own.pid);
    const [said] = await once(own.stdout, "data");
    return { own, pids: await pidsOf(String(said)) };
  }

  test.each(["SIGTERM", "SIGINT"] as const)("by %s ends the tree at once", async (how) => {
    const { own, pids } = await program(how, ["stubborn.mjs"]);
    own.kill(how);
    expect(await once(own, "exit")).toEqual([null, how]);
    await vi.waitFor(() => expect(pids.map(runs)).toEqual([false, false]), { timeout: 30_000 });
  });

  test("by exit ends the tree at once", async () => {
    const own = spawn(process.execPath, [fixturePath("orphaning.mjs"), "exit", "stubborn.mjs"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [[said], [code]] = await Promise.all([once(own.stdout, "data"), once(own, "exit")]);
    expect(code).toBe(0);
    const pids: number[] = JSON.parse(String(said));
    started.push(...pids);
    await vi.waitFor(() => expect(pids.map(runs)).toEqual([false, false]), { timeout: 30_000 });
  });

  // They wait for the watchdog most of the time: together they take no longer than one.
  test.concurrent.each(TREES)("by SIGKILL ends %s a little later", async (_, args) => {
    const { own, pids } = await program("SIGKILL", args);
    // The watchdog comes a little later than the server.
    await vi.waitFor(
      () => expect(commandsBelow(own.pid ?? 0)).toContainEqual(expect.stringContaining("watchdog")),
      {
        timeout: 30_000,
      },
    );
    own.kill("SIGKILL");
    await once(own, "exit");
    await vi.waitFor(() => expect(pids.map(runs)).toEqual([false, false]), { timeout: 30_000 });
  });
});
