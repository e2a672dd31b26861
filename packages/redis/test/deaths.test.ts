/** An instance that is killed while it works: its clients are told so by another, and nobody waits forever. */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { Events, gist, openSession, until } from "../../server/test/streamable.ts";
import { type Json, MODERN_META, type SseEvent } from "../../server/test/wire.ts";
import { at } from "./instances.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";

const INSTANCE = fileURLToPath(new URL("instance.mjs", import.meta.url));
const GONE = { code: -32603, message: expect.stringContaining("is gone") };

needs("redis-server")("an instance that is killed", () => {
  let redis: RedisServer;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    for (const child of children.splice(0)) await kill(child);
  });
  afterAll(() => redis.stop());

  async function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async function start(prefix: string): Promise<{ url: string; child: ChildProcess }> {
    const child = fork(INSTANCE, [redis.url, prefix], { execArgv: [] });
    children.push(child);
    const [{ url }] = (await once(child, "message")) as [{ url: string }];
    return { url, child };
  }

  /** Begins a call on the first of two instances, and sees its first event. */
  async function begun() {
    const prefix = `${crypto.randomUUID()}:`;
    const [a, b] = await Promise.all([start(prefix), start(prefix)]);
    const client = await openSession(a.url);
    const away = new AbortController();
    const events = new Events(await client.call("slow", "progress", {}, away.signal));
    const primer = (await events.next()) as SseEvent;
    return { a, b, client, events, away, primer };
  }

  test("leaves what it had kept: another tells it, and that the request is lost", async () => {
    const { a, b, client, events, primer } = await begun();
    expect(gist(await events.message())).toBe("progress 1");
    expect(gist(await events.message())).toBe("progress 2");
    // The client hears of an event no later than Redis does.
    const [log] = (await redis.command("KEYS", `*${client.id}*:events:*`)) as [string];
    await until(async () => (await redis.command("XLEN", log)) === 3);
    await kill(a.child);
    await expect(events.next()).rejects.toThrow();
    const rest = await new Events(await at(b, client).get(primer.id)).rest();
    expect(rest.slice(0, 2).map(gist)).toEqual(["progress 1", "progress 2"]);
    expect(JSON.parse(rest[2]?.data ?? "")).toEqual({ jsonrpc: "2.0", id: "slow", error: GONE });
    expect(rest.length).toBe(3);
    // The session lives on.
    expect((await at(b, client).post({ jsonrpc: "2.0", id: 1, method: "ping" })).status).toBe(200);
  });

  test("is missed by another that goes on with its stream: no event twice, then the error", async () => {
    const { a, b, client, primer, away } = await begun();
    away.abort();
    const events = new Events(await at(b, client).get(primer.id));
    expect(gist(await events.message())).toBe("progress 1");
    expect(gist(await events.message())).toBe("progress 2");
    await kill(a.child);
    const rest = (await events.rest()).map(({ data }) => JSON.parse(data) as Json);
    expect(rest).toEqual([{ jsonrpc: "2.0", id: "slow", error: GONE }]);
  });

  test("takes its questions along: an answer to one is refused, not kept waiting", async () => {
    const { a, b, client } = await begun();
    const question = { id: "unknown" };
    await kill(a.child);
    const refused = await at(b, client).post({ jsonrpc: "2.0", ...question, result: {} });
    expect(refused.status).toBe(400);
  });

  test("fails its tasks", async () => {
    const prefix = `${crypto.randomUUID()}:`;
    const [a, b] = await Promise.all([start(prefix), start(prefix)]);
    const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    const _meta = { ...MODERN_META, "io.modelcontextprotocol/clientCapabilities": capabilities };
    const send = async (url: string, method: string, params: Json): Promise<Json> => {
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        "mcp-name": params.name ?? params.taskId,
      };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } });
      return (await (await fetch(url, { method: "POST", headers, body })).json()) as Json;
    };
    const { result } = await send(a.url, "tools/call", { name: "job", arguments: {} });
    const { taskId } = result;
    expect((await send(b.url, "tasks/get", { taskId })).result.status).toBe("working");
    await kill(a.child);
    let task: Json;
    do {
      task = (await send(b.url, "tasks/get", { taskId })).result;
    } while (task.status === "working");
    expect(task).toMatchObject({ status: "failed", error: GONE });
  });
});
