/** A server process that dies is started again: what waits for it, what is sent again, and what is told. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Client, ConnectionError, type ConnectOptions, connect } from "../src/index.ts";
import { fixture, runs } from "./processes.ts";

const open: Client[] = [];
let directory: string;
let lines: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "mortal-"));
  lines = [];
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
  rmSync(directory, { recursive: true });
});

async function mortal(era: string, options: ConnectOptions = {}): Promise<Client> {
  const onStderr = (line: string) => lines.push(line);
  const client = await connect(fixture("mortal.mjs", era, directory), { onStderr, ...options });
  open.push(client);
  return client;
}

async function pidOf(client: Client, tool = "pid"): Promise<number> {
  const { content } = await client.callTool(tool);
  return Number((content[0] as { text: string }).text);
}

/** Kills the server, and gives its pid once that is known. */
async function killed(client: Client): Promise<number> {
  const pid = await pidOf(client);
  const hanging = client.callTool("hang");
  process.kill(pid, "SIGKILL");
  await expect(hanging).rejects.toThrow(ConnectionError);
  return pid;
}

const said = (line: string) => lines.filter((each) => each === line).length;

describe.each(["modern", "legacy"])("a %s server that died", (era) => {
  test("is started again, and the next call waits for it", async () => {
    const lost: ConnectionError[] = [];
    const client = await mortal(era, { onSessionLost: (why) => lost.push(why) });
    const pid = await killed(client);
    expect(await pidOf(client)).not.toBe(pid);
    expect(lost).toMatchObject([{ reason: "exited", message: expect.stringContaining("SIGKILL") }]);
    expect(client.era).toBe(era);
  });

  test("has a call that may have run rejected, and not sent again", async () => {
    const client = await mortal(era);
    await client.listTools();
    const hanging = client.callTool("hang").catch((error: unknown) => error);
    const error = await client.callTool("change").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      reason: "exited",
      mayHaveRun: true,
      message: expect.stringMatching(
        /^tools\/call may have run, and was not sent again: "node" was ended by SIGKILL/,
      ),
    });
    expect(await hanging).toMatchObject({ mayHaveRun: true });
    await client.callTool("change");
    await vi.waitFor(() => expect([said("called change"), said("called hang")]).toEqual([2, 1]));
  });

  test.each(["look", "set"])("has a call sent again that does nothing twice (%s)", async (tool) => {
    const client = await mortal(era);
    const pid = await pidOf(client);
    await client.listTools();
    expect(await pidOf(client, tool)).not.toBe(pid);
    await vi.waitFor(() => expect(said(`called ${tool}`)).toBe(2));
  });

  test("is asked again to tell of changes", async () => {
    const client = await mortal(era);
    await client.listen({ resourceSubscriptions: ["a:b"] }, () => {});
    await killed(client);
    await vi.waitFor(() => expect(said("watched a:b")).toBe(2), { timeout: 5_000 });
  });

  test("is given up after maxRestarts; what waits is told why", async () => {
    const client = await mortal(era, { maxRestarts: 2 });
    await client.callTool("last").catch(() => {});
    await expect(client.callTool("pid")).rejects.toMatchObject({
      reason: "exited",
      mayHaveRun: false,
      message: expect.stringMatching(/exited with code 7.*maxRestarts allows \(2\)/s),
    });
    expect(await client.closed).toMatchObject({ reason: "exited" });
  });

  test("is not started again once the client is closed", async () => {
    const client = await mortal(era);
    const pid = await killed(client);
    await client.close();
    expect(runs(pid)).toBe(false);
    expect(await client.closed).toBeUndefined();
    await expect(client.ping()).rejects.toThrow("is closed");
  });
});

test("what a legacy server was told once it is told again: who we are, and the level of its log", async () => {
  const client = await mortal("legacy", {
    logLevel: "warning",
    clientInfo: { name: "tester", version: "1" },
  });
  await killed(client);
  await vi.waitFor(() => expect(said("level warning")).toBe(2), { timeout: 5_000 });
  expect(said("initialized by tester")).toBe(2);
});

test("a call made when it is told that the session was lost comes before those that waited", async () => {
  const client = await mortal("modern", { onSessionLost: () => void client.callTool("look") });
  writeFileSync(join(directory, "look"), "");
  writeFileSync(join(directory, "set"), "");
  await killed(client);
  await client.callTool("set");
  const calls = () => lines.filter((line) => /called (look|set)/.test(line));
  await vi.waitFor(() => expect(calls()).toEqual(["called look", "called set"]));
});

test("a request that waits for a new process can be given up", async () => {
  const client = await mortal("modern", { maxRestarts: 100 });
  await client.callTool("last").catch(() => {});
  await expect(client.callTool("pid", {}, { timeout: 50 })).rejects.toMatchObject({ limit: "timeout" });
  rmSync(join(directory, "dead"));
  expect(await pidOf(client)).toBeGreaterThan(0);
  await vi.waitFor(() => expect(said("called pid")).toBe(1));
});
