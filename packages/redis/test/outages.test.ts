/** A Redis that is slow, gone, back or another one: what needs it is refused at once, and all else goes on. */

import { afterEach, expect, test } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import {
  Events,
  gist,
  HEADERS,
  openSession,
  type SessionClient,
  until,
} from "../../server/test/streamable.ts";
import { type Json, MODERN_META } from "../../server/test/wire.ts";
import { Door } from "./door.ts";
import { at, closeAll, type Instance, startInstance } from "./instances.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";

const servers: RedisServer[] = [];

afterEach(async () => {
  await closeAll();
  await Door.closeAll();
  for (const server of servers.splice(0)) await server.stop();
});

async function redisServer(...options: string[]): Promise<RedisServer> {
  const server = await startRedis(...options);
  servers.push(server);
  return server;
}

async function modern(instance: Instance): Promise<Response> {
  const params = { name: "echo", arguments: { text: "modern" }, _meta: MODERN_META };
  return fetch(instance.url, {
    method: "POST",
    headers: {
      ...HEADERS,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "echo",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
}

/** What a session needs is refused, and may be asked for again; what needs none goes on. */
async function expectRefused(instance: Instance, client: SessionClient): Promise<void> {
  for (const refused of [
    await at(instance, client).call(1, "echo", { text: "" }),
    await at(instance, client).get(),
    await at(instance, client).delete(),
    await openRaw(instance),
  ]) {
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    const { error } = (await refused.json()) as Json;
    expect(error).toMatchObject({
      code: -32603,
      message: expect.stringContaining("Redis cannot be reached now"),
    });
  }
  expect(gist((await (await modern(instance)).json()) as Json)).toBe("answer 1: modern");
}

function openRaw(instance: Instance): Promise<Response> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  return fetch(instance.url, { method: "POST", headers: HEADERS, body });
}

async function works(instance: Instance, client: SessionClient): Promise<boolean> {
  const response = await at(instance, client).call("again", "echo", { text: "hi" });
  const text = await response.text();
  if (response.status === 200) expect(text).toContain('"hi"');
  else expect(response.status).toBe(503);
  return response.status === 200;
}

needs("redis-server")("a Redis", () => {
  test("that hangs is given up after commandTimeout, and found again when it answers", async () => {
    const redis = await redisServer();
    const a = await startInstance({ url: redis.url, commandTimeout: 200 });
    const client = await openSession(a.url);
    expect(a.sessions.ready()).toBe(true);
    redis.signal("SIGSTOP");
    await expectRefused(a, client);
    expect(a.sessions.ready()).toBe(false);
    redis.signal("SIGCONT");
    await until(() => works(a, client));
    expect(a.sessions.ready()).toBe(true);
  });

  test("that hangs for long is connected to again", async () => {
    const redis = await redisServer();
    const door = new Door(redis.port);
    const notices: string[] = [];
    const onNotice = (notice: string) => notices.push(notice);
    const a = await startInstance({ url: await door.open(), commandTimeout: 50, onNotice });
    const client = await openSession(a.url);
    const another = await redisServer("--replicaof", "127.0.0.1", `${redis.port}`);
    await until(async () =>
      String(await another.command("INFO", "replication")).includes("master_link_status:up"),
    );
    redis.signal("SIGSTOP");
    await another.command("REPLICAOF", "NO", "ONE");
    door.target = another.port;
    await expectRefused(a, client);
    await until(() => works(a, client));
    expect(notices.join(" ")).toMatch(/did not answer.*cannot be reached.*is back/);
    redis.signal("SIGCONT");
  });

  test("that is killed and comes back has lost its sessions, and serves new ones", async () => {
    const redis = await redisServer();
    const a = await startInstance({ url: redis.url });
    const b = await startInstance({ url: redis.url });
    const client = await openSession(a.url);
    const others = new Events(await (await openSession(b.url)).get());
    await others.next();
    await redis.kill();
    await until(() => !a.sessions.ready() && !b.sessions.ready());
    await expectRefused(a, client);
    await redis.restart();
    await until(() => a.sessions.ready() && b.sessions.ready());
    expect((await at(b, client).call(1, "echo", { text: "" })).status).toBe(404);
    // They hear each other again.
    const fresh = await openSession(a.url);
    const unasked = new Events(await at(b, fresh).get());
    await unasked.next();
    a.server.prompt("new", {}, () => "");
    expect(gist(await unasked.message())).toBe("notifications/prompts/list_changed");
  });

  test("that is killed does not end what goes on: a call is answered to the client that is there", async () => {
    const redis = await redisServer();
    const a = await startInstance({ url: redis.url });
    const client = await openSession(a.url);
    void a.script("x").tell(1);
    const events = new Events(await client.call(1, "works", { name: "x" }));
    await events.message();
    await redis.kill();
    await until(() => !a.sessions.ready());
    await a.script("x").tell(2);
    await a.script("x").tell("end");
    expect((await events.rest()).map(gist)).toEqual(["progress 2", "answer 1: x done"]);
  });

  test("that failed over has become a replica: the one that took over is found", async () => {
    const first = await redisServer();
    const second = await redisServer("--replicaof", "127.0.0.1", `${first.port}`);
    const door = new Door(first.port);
    const a = await startInstance({ url: await door.open() });
    const client = await openSession(a.url);
    await until(async () => (await second.command("DBSIZE")) === (await first.command("DBSIZE")));
    door.target = second.port;
    await second.command("REPLICAOF", "NO", "ONE");
    // The connection stays with the first, which takes no more writes.
    await first.command("REPLICAOF", "127.0.0.1", `${second.port}`);
    await until(async () => (await openRaw(a)).status === 200);
    expect(await works(a, client)).toBe(true);
    expect(await second.command("EXISTS", `patchbay:{${client.id}}:session`)).toBe(1);
  });

  test("is not needed to start: requests are refused until it is there", async () => {
    const redis = await redisServer();
    await redis.kill();
    const a = await startInstance({ url: redis.url, commandTimeout: 100 }, {}, false);
    expect((await openRaw(a)).status).toBe(503);
    await redis.restart();
    await until(async () => (await openRaw(a)).status === 200);
  });
});
