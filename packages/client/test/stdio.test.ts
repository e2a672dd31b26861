/** Server processes: found out, talked to, and ended with all that they started. */

import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ConnectionError, connect, type StdioTarget, TimeoutError } from "../src/index.ts";
import { fixture, runs } from "./processes.ts";

type Connected = Awaited<ReturnType<typeof connect>>;
const open: Connected[] = [];

async function connected(...args: Parameters<typeof connect>): Promise<Connected> {
  const client = await connect(...args);
  open.push(client);
  return client;
}

async function failure(
  target: StdioTarget,
  options: Parameters<typeof connect>[1] = {},
): Promise<ConnectionError> {
  const error = await connect(target, options).then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(ConnectionError);
  return error;
}

async function textOf(client: Connected, tool: string, args: object = {}): Promise<string> {
  const { content } = await client.callTool(tool, args);
  return (content[0] as { text: string }).text;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

describe("the era is found out", () => {
  test("a modern server answers server/discover", async () => {
    const client = await connected(fixture("modern.mjs"));
    expect(client).toMatchObject({ era: "modern", revision: "2026-07-28", server: { name: "modern" } });
    expect(await textOf(client, "echo", { message: "hi" })).toBe("hi");
  });

  test.each(["", "silent", "late", "strict"])("a legacy server is initialized (%s)", async (mode) => {
    const client = await connected(fixture("legacy.mjs", mode), { probeTimeout: 50 });
    expect(client).toMatchObject({ era: "legacy", revision: "2025-11-25", server: { name: "legacy" } });
    expect(await textOf(client, "echo", { message: "hi" })).toBe("hi");
  });

  test("a modern server that is slow to start is modern still", async () => {
    const client = await connected(fixture("modern.mjs", "late"), { probeTimeout: 50, timeout: 5_000 });
    expect(client.era).toBe("modern");
  });

  test("a server of the other era is told so, when the era was chosen", async () => {
    const { reason, message } = await failure(fixture("legacy.mjs"), { era: "modern" });
    expect([reason, message]).toEqual([
      "incompatible",
      expect.stringContaining("does not speak a modern revision"),
    ]);
    expect(await failure(fixture("modern.mjs"), { era: "legacy" })).toMatchObject({ reason: "refused" });
  });
});

describe("a legacy server asks", () => {
  test("ping is answered, and all else is refused", async () => {
    const client = await connected(fixture("legacy.mjs"));
    expect(JSON.parse(await textOf(client, "ask"))).toEqual([
      { jsonrpc: "2.0", id: "s1", result: {} },
      {
        jsonrpc: "2.0",
        id: "s2",
        error: { code: -32601, message: expect.stringContaining("sampling/createMessage") },
      },
    ]);
  });
});

describe("what a server process is given", () => {
  test("the allow-listed part of the environment, what the target declares, and its directory", async () => {
    vi.stubEnv("PATCHBAY_CANARY", "must not be seen");
    const target = { ...fixture("modern.mjs"), env: { DECLARED: "yes" }, cwd: tmpdir() };
    const client = await connected(target);
    vi.unstubAllEnvs();
    const env = JSON.parse(await textOf(client, "env"));
    expect(env).toMatchObject({ PATH: process.env.PATH, DECLARED: "yes" });
    expect(env).not.toHaveProperty("PATCHBAY_CANARY");
    expect(await textOf(client, "cwd")).toBe(realpathSync(tmpdir()));
  });
});

describe("a server that does not work gets an error that says how", () => {
  test("no such command", async () => {
    const error = await failure({ command: "no-such-command-anywhere" });
    expect(error.reason).toBe("command");
    expect(error.message).toBe(
      'Could not start "no-such-command-anywhere": there is no such command; is it installed, and on the PATH?',
    );
  });

  test("no such directory", async () => {
    const { message } = await failure({ ...fixture("modern.mjs"), cwd: "/no/such/place" });
    expect(message).toContain("its working directory /no/such/place does not exist");
  });

  test("it dies at start: the code, and its last stderr lines without colours and secrets", async () => {
    const error = await failure({ ...fixture("broken.mjs", "dies"), env: { TOKEN: "s3cr3t-t0ken" } });
    expect(error.reason).toBe("exited");
    expect(error.message).toBe(
      '"node" exited with code 3. Its last stderr lines:\n  first line\n  cannot  start: token=***',
    );
  });

  test("it hangs at start", async () => {
    const error = await failure(fixture("broken.mjs", "hangs"), { probeTimeout: 20, connectTimeout: 300 });
    expect(error).toMatchObject({
      reason: "silent",
      message: '"node" did not answer within connectTimeout (300 ms)',
    });
  });

  test("it prints to stdout", async () => {
    const error = await failure(fixture("broken.mjs", "prints"), { probeTimeout: 20, connectTimeout: 1_000 });
    expect(error.message).toContain("It wrote to stdout what is no MCP message: Welcome to my program!");
  });

  test.each([{}, { era: "legacy" as const }])("it sends back what it is sent (%j)", async (options) => {
    const echo = { command: process.execPath, args: ["-e", "process.stdin.pipe(process.stdout)"] };
    expect(await failure(echo, options)).toMatchObject({
      reason: "not-mcp",
      message: '"node" does not speak MCP: it sends back what it is sent',
    });
  });

  test("it prints to stdout and does not stop", async () => {
    const error = await failure(fixture("broken.mjs", "babbles"), { maxStrayLines: 100 });
    expect(error).toMatchObject({
      reason: "not-mcp",
      message: expect.stringContaining("more than maxStrayLines (100) that are no MCP messages"),
    });
  });

  test("it floods stdout without a newline", async () => {
    const error = await failure(fixture("broken.mjs", "floods"), { maxMessageBytes: 100_000 });
    expect(error).toMatchObject({
      reason: "too-large",
      message: expect.stringContaining("longer than maxMessageBytes allows (100000)"),
    });
  });

  test("it answers by JSON that passes a limit", async () => {
    const error = await failure(fixture("broken.mjs", "nests"));
    expect(error).toMatchObject({
      reason: "too-large",
      message: expect.stringContaining("nested deeper than maxDepth allows (64)"),
    });
  });

  test("connecting is given up by the caller", async () => {
    const controller = new AbortController();
    const connecting = connect(fixture("broken.mjs", "hangs"), { signal: controller.signal });
    controller.abort(new Error("changed my mind"));
    await expect(connecting).rejects.toThrow("changed my mind");
  });
});

describe("while it runs", () => {
  test("a stray line on stdout is reported and passed over", async () => {
    const stray: string[] = [];
    const onStrayOutput = (line: string) => stray.push(line);
    const client = await connected(fixture("modern.mjs"), { onStrayOutput, maxStrayLines: 1 });
    expect(await textOf(client, "chatter")).toBe("said");
    expect(await textOf(client, "chatter")).toBe("said");
    expect(stray).toEqual(["just saying", "just saying"]);
  });

  test("its stderr is told line by line", async () => {
    const lines: string[] = [];
    const client = await connected(fixture("modern.mjs"), { onStderr: (line) => lines.push(line) });
    await client.callTool("warn", { message: "\x1b[1mlook\x1b[0m out" });
    await vi.waitFor(() => expect(lines).toEqual(["look out"]));
  });

  test("a cancelled request is cancelled on the server by its id", async () => {
    const client = await connected(fixture("modern.mjs"));
    const controller = new AbortController();
    const waiting = client.callTool("wait", {}, { signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toThrow(expect.objectContaining({ name: "AbortError" }));
    expect(JSON.parse(await textOf(client, "cancelled"))).toEqual([2]);
  });

  test("requests in flight fail at once when it dies, and later ones too", async () => {
    const client = await connected(fixture("modern.mjs"), { maxRestarts: 0 });
    const waiting = client.callTool("wait");
    const dying = client.callTool("die");
    await expect(waiting).rejects.toThrow('"node" was ended by SIGKILL');
    await expect(dying).rejects.toThrow(ConnectionError);
    await expect(client.callTool("echo", { message: "hi" })).rejects.toThrow('"node" was ended by SIGKILL');
    expect(await client.closed).toMatchObject({ reason: "exited" });
  });

  test("it may end the connection by closing its stdout", async () => {
    const client = await connected(fixture("modern.mjs"), { maxRestarts: 0 });
    await expect(client.callTool("hangUp")).rejects.toThrow('"node" closed its stdout');
    expect(await client.closed).toMatchObject({ reason: "closed" });
  });

  test("one that does not read is not buried in what waits for it", async () => {
    const client = await connected(fixture("modern.mjs"), { maxQueuedBytes: 1_000_000, closeTimeout: 100 });
    await client.callTool("stopReading");
    const buried = client.callTool("echo", { message: "x".repeat(4_000_000) });
    await expect(client.callTool("echo", { message: "hi" })).rejects.toThrow(
      "more than maxQueuedBytes (1000000)",
    );
    const closing = client.close();
    await expect(buried).rejects.toThrow("is closed");
    await closing;
  });
});

describe("one that floods us with requests", () => {
  test("has an answer to each where it reads them", async () => {
    const client = await connected(fixture("flooding.mjs"));
    expect(await textOf(client, "listening")).toBe("50000");
  });

  test.skipIf(process.platform === "win32")("is not read on where it does not", async () => {
    const lines: string[] = [];
    const onStderr = (line: string) => lines.push(line);
    const client = await connected(fixture("flooding.mjs"), { onStderr, closeTimeout: 100 });
    await expect(client.callTool("deaf", {}, { timeout: 1_000 })).rejects.toThrow(TimeoutError);
    expect(lines).toEqual([]);
  });
});

describe.skipIf(process.platform === "win32")("closing", () => {
  test("ends the server, and what it started, though both refuse", async () => {
    const client = await connected(fixture("stubborn.mjs"), { closeTimeout: 100 });
    const pids: number[] = JSON.parse(await textOf(client, "pids"));
    expect(pids.map(runs)).toEqual([true, true]);
    await client.close();
    expect(pids.map(runs)).toEqual([false, false]);
  });

  test("twice is once, and its cause is none", async () => {
    const client = await connected(fixture("modern.mjs"));
    const waiting = client.callTool("wait");
    const closing = client.close();
    await expect(waiting).rejects.toThrow("is closed");
    await Promise.all([closing, client.close()]);
    expect(await client.closed).toBeUndefined();
    await expect(client.ping()).rejects.toThrow(ConnectionError);
  });
});
