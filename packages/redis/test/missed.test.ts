/** What instances may have missed of each other: nobody is left with what was, or waits for what will not come. */

import { afterEach, expect, test } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { Events, gist, openSession, type SessionClient, until } from "../../server/test/streamable.ts";
import type { Json, SseEvent } from "../../server/test/wire.ts";
import { Door } from "./door.ts";
import { at, closeAll, type Instance, startInstance } from "./instances.ts";
import { freePort, type RedisServer, startRedis } from "./redis-server.ts";

const CHANGED = [
  "notifications/tools/list_changed",
  "notifications/resources/list_changed",
  "notifications/prompts/list_changed",
  "notifications/resources/updated",
];

needs("redis-server")("when something may have been missed", () => {
  let redis: RedisServer | undefined;

  afterEach(async () => {
    await closeAll();
    await Door.closeAll();
    await redis?.stop();
    redis = undefined;
  });

  async function started(): Promise<RedisServer> {
    redis = await startRedis();
    return redis;
  }

  /** A client that watches a resource and listens. */
  async function listening(instance: Instance): Promise<Events> {
    const client = await openSession(instance.url);
    const params = { uri: "test://watched" };
    await client.post({ jsonrpc: "2.0", id: 1, method: "resources/subscribe", params });
    const events = new Events(await client.get());
    await events.next();
    return events;
  }

  async function next4(events: Events): Promise<string[]> {
    const told = [];
    for (let count = 0; count < 4; count++) told.push(gist(await events.message()));
    return told;
  }

  test("because Redis did not answer, clients look again when it does", async () => {
    const { url, signal } = await started();
    const b = await startInstance({ url, commandTimeout: 100 });
    const events = await listening(b);
    const a = await startInstance({ url, commandTimeout: 100 });
    signal("SIGSTOP");
    await until(() => !a.sessions.ready() && !b.sessions.ready());
    a.server.resourceUpdated("test://watched");
    signal("SIGCONT");
    expect(await next4(events)).toEqual(CHANGED);
  });

  test("because one instance had lost Redis, clients of the others look again too", async () => {
    const { url, port } = await started();
    const b = await startInstance({ url });
    const events = await listening(b);
    const door = new Door(port);
    const a = await startInstance({ url: await door.open() });
    const own = await listening(a);
    door.target = await freePort();
    door.cut();
    await until(() => !a.sessions.ready());
    a.server.removeTool("echo");
    expect(gist(await own.message())).toBe(CHANGED[0]);
    door.target = port;
    expect(await next4(events)).toEqual(CHANGED);
    expect(await next4(own)).toEqual(CHANGED);
  });

  /** A call that runs on one instance, and whose client listens on another. */
  async function carried(a: Instance, b: Instance): Promise<{ client: SessionClient; events: Events }> {
    const client = await openSession(a.url);
    const away = new AbortController();
    const works = a.script("x");
    void works.tell(1);
    const first = new Events(await client.call(7, "works", { name: "x" }, away.signal));
    const primer = (await first.next()) as SseEvent;
    away.abort();
    const events = new Events(await at(b, client).get(primer.id));
    expect(gist(await events.message())).toBe("progress 1");
    return { client, events };
  }

  /** A stream that breaks off, and goes on where it broke off. */
  async function goesOn(a: Instance, b: Instance, client: SessionClient, events: Events): Promise<void> {
    const last = await a
      .script("x")
      .tell(2)
      .then(() => idOfOne(a, client));
    await expect(events.rest()).rejects.toThrow();
    await a.script("x").tell("end");
    const rest = await new Events(await at(b, client).get(last)).rest();
    expect(rest.map(gist)).toEqual(["progress 2", "answer 7: x done"]);
  }

  /** The id of the first event of the only stream that is kept. */
  async function idOfOne(a: Instance, { id }: SessionClient): Promise<string> {
    const prefix = `${a.sessions.shared.id}-`;
    const keys = (await (redis as RedisServer).command("KEYS", `*${id}*:events:*`)) as string[];
    const stream = (keys[0] as string).slice((keys[0] as string).indexOf(prefix));
    return `${stream}.${Buffer.from("[7]").toString("base64url")}.1`;
  }

  test("because the sender of a stream had lost Redis, the client comes back for the rest", async () => {
    const { url, port } = await started();
    const door = new Door(port);
    const a = await startInstance({ url: await door.open() });
    const b = await startInstance({ url });
    const { client, events } = await carried(a, b);
    door.target = await freePort();
    door.cut();
    await until(() => !a.sessions.ready());
    door.target = port;
    await until(() => a.sessions.ready());
    await goesOn(a, b, client, events);
  });

  test("because the sender could not send for a while, the client comes back for the rest", async () => {
    const { url, signal } = await started();
    const a = await startInstance({ url, commandTimeout: 100 });
    const b = await startInstance({ url, commandTimeout: 100 });
    const { client, events } = await carried(a, b);
    signal("SIGSTOP");
    await until(() => !a.sessions.ready());
    await a.script("x").tell(2);
    signal("SIGCONT");
    await expect(events.rest()).rejects.toThrow();
    await a.script("x").tell("end");
    const back = new Events(await at(b, client).get(await idOfOne(a, client)));
    expect((await back.rest()).map(gist)).toEqual(["progress 2", "answer 7: x done"]);
  });

  test("because an instance had been taken for dead, its clients come back, and look again", async () => {
    const { url, command } = await started();
    const a = await startInstance({ url, deadAfter: 300 });
    const b = await startInstance({ url, deadAfter: 300 });
    const { client, events } = await carried(a, b);
    const told = await listening(b);
    await command("HDEL", "patchbay:instances", b.sessions.shared.id);
    expect(await next4(told)).toEqual(CHANGED);
    await goesOn(a, b, client, events);
  });

  test("a stream that Redis has lost is not begun anew, and all that is kept has an end", async () => {
    const { url, command } = await started();
    const a = await startInstance({ url });
    const b = await startInstance({ url });
    const client = await openSession(a.url);
    const works = a.script("x");
    void works.tell(1);
    const events = new Events(await client.call(7, "works", { name: "x" }));
    const primer = (await events.next()) as SseEvent;
    await events.message();
    await command("FLUSHALL");
    await works.tell(2);
    await works.tell("end");
    expect((await events.rest()).map(gist)).toEqual(["progress 2", "answer 7: x done"]);
    for (const key of (await command("KEYS", "*")) as string[]) {
      expect([key, await command("PTTL", key)]).not.toEqual([key, -1]);
      expect(key).not.toContain(":events:");
    }
    expect((await at(b, client).get(primer.id)).status).toBe(404);
  });

  test("because nothing of a stream was kept, the client is told of its request", async () => {
    const { url, command } = await started();
    const a = await startInstance({ url });
    const b = await startInstance({ url });
    const client = await openSession(a.url);
    void a.script("x").tell(1);
    const batch = new Events(await client.call("a ~ü/1", "works", { name: "x" }));
    const primer = (await batch.next()) as SseEvent;
    await a.close();
    for (const key of (await command("KEYS", "*:events:*")) as string[]) await command("DEL", key);
    const rest = await new Events(await at(b, client).get(primer.id)).rest();
    expect(rest.map(({ data }) => JSON.parse(data) as Json)).toEqual([
      {
        jsonrpc: "2.0",
        id: "a ~ü/1",
        error: { code: -32603, message: expect.stringContaining("is gone") },
      },
    ]);
  });
});
