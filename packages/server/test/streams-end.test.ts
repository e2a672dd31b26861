/** How streams and sessions end over legacy HTTP, and what is bounded while they last. */

import { afterEach, describe, expect, test } from "vitest";
import { EventBudget } from "../src/legacy/event-budget.ts";
import { LiveSession } from "../src/legacy/live-session.ts";
import { strangerSession } from "../src/legacy/session.ts";
import type { SessionStore } from "../src/sessions/store.ts";
import type { EndpointOptions } from "../src/transports/http/endpoint.ts";
import { memorySessions } from "../src/transports/http.ts";
import { Events, gist, type Mounted, mount, openSession, scripted, until } from "./streamable.ts";
import type { Json } from "./wire.ts";

let mounted: Mounted | undefined;
afterEach(() => mounted?.close());

async function start(options: EndpointOptions = {}) {
  const { server, script } = scripted();
  mounted = await mount(server, options);
  return { server, script, url: mounted.url, endpoint: mounted.endpoint };
}

describe("what ends", () => {
  test("a cancelled call: its stream without an answer, whether or not the handler notices", async () => {
    const { url, script } = await start();
    const client = await openSession(url);
    void script("streams").tell(1);
    const streaming = new Events(await client.call(1, "works", { name: "streams" }));
    await streaming.message();
    const silent = client.call(2, "works", { name: "silent" });
    void client.post({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 1, reason: "r" },
    });
    expect(await streaming.rest()).toEqual([]);
    expect(String(await script("streams").cancelled)).toContain("r");
    await until(async () => {
      await client.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } });
      return (await Promise.race([silent, undefined])) !== undefined;
    });
    const ended = await silent;
    expect([ended.status, ended.headers.get("content-type"), await ended.text()]).toEqual([
      200,
      "text/event-stream",
      "",
    ]);
  });

  test("a session that is deleted: its streams and calls; then it is not found", async () => {
    const { url, script, endpoint } = await start();
    const client = await openSession(url);
    const unasked = new Events(await client.get());
    await unasked.next();
    void script("a").tell(1);
    const streaming = new Events(await client.call(1, "works", { name: "a" }));
    await streaming.message();
    expect((await client.delete()).status).toBe(204);
    expect(await unasked.rest()).toEqual([]);
    expect(await streaming.rest()).toEqual([]);
    expect(String(await script("a").cancelled)).toContain("deleted");
    const gone = [
      await client.post({ jsonrpc: "2.0", id: 1, method: "ping" }),
      await client.post({ jsonrpc: "2.0", method: "notifications/initialized" }),
      await client.get(),
      await client.delete(),
    ];
    expect(gone.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(endpoint.live).toBe(0);
  });

  test("a session that ended in its store: its open streams, without being asked", async () => {
    const store = memorySessions();
    const { url, script, endpoint } = await start({
      sessions: store,
      keepAlive: 5,
    });
    const client = await openSession(url);
    const unasked = new Events(await client.get());
    await unasked.next();
    void script("a").tell(1);
    const streaming = new Events(await client.call(1, "works", { name: "a" }));
    await streaming.message();
    // As another instance would.
    store.delete(client.id);
    expect(await unasked.rest()).toEqual([]);
    expect(await streaming.rest()).toEqual([]);
    await script("a").cancelled;
    expect(endpoint.live).toBe(0);
    expect((await client.get()).status).toBe(404);
  });

  test("a session is kept alive by a client that is there, and by nothing else", async () => {
    const memory = memorySessions();
    let onGet = () => {};
    let onHas = () => {};
    const store: SessionStore = {
      ...memory,
      get: (id) => {
        onGet();
        return memory.get(id);
      },
      has: (id) => {
        onHas();
        return memory.has(id);
      },
    };
    const { url } = await start({ sessions: store, keepAlive: 5 });
    const client = await openSession(url);
    const away = new AbortController();
    await new Events(await client.get(undefined, away.signal)).next();
    await new Promise<void>((resolve) => {
      onGet = resolve;
    });
    away.abort();
    const looked = () =>
      new Promise<void>((resolve) => {
        onHas = resolve;
      });
    await looked();
    let asked = 0;
    onGet = () => asked++;
    await looked();
    await looked();
    expect(asked).toBe(0);
  });

  test("a store that fails is reported, and the next look is taken", async () => {
    const { server } = scripted();
    const memory = memorySessions();
    let fails = 0;
    const failed = new Promise<void>((resolve) => {
      const store: SessionStore = {
        ...memory,
        get: async (id) => {
          if (fails++ === 1) throw new Error("no store");
          if (fails > 2) resolve();
          return memory.get(id);
        },
      };
      void (async () => {
        mounted = await mount(server, { sessions: store, keepAlive: 5 });
        await new Events(await (await openSession(mounted.url)).get()).next();
      })();
    });
    await failed;
  });
});

describe("bounds", () => {
  test("an id that is in flight is refused, and more than may be", async () => {
    const { url, script } = await start({ maxInFlight: 2 });
    const client = await openSession(url);
    const streams = [];
    for (const name of ["a", "b"]) {
      void script(name).tell(1);
      const events = new Events(await client.call(name, "works", { name }));
      await events.message();
      streams.push(events);
    }
    const same = await client.call("a", "works", { name: "a" });
    expect([same.status, ((await same.json()) as Json).error.message]).toEqual([
      400,
      expect.stringContaining("in flight already"),
    ]);
    const third = await client.call("c", "works", { name: "c" });
    expect([third.status, third.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(((await third.json()) as Json).error.data).toEqual({ limit: "maxInFlight", value: 2 });
    for (const name of ["a", "b"]) await script(name).tell("end");
    for (const events of streams) await events.rest();
    expect((await client.call("a", "echo", { text: "x" })).status).toBe(200);
  });

  test("nothing is left of calls, questions and streams that are over", async () => {
    const { url, script, endpoint } = await start({ maxEvents: 0 });
    const client = await openSession(url);
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) =>
        (await client.call(index, "later", { text: "x" })).text(),
      ),
    );
    await until(() => endpoint.live === 0);
    void script("a").tell(1);
    void script("a").tell("end");
    await new Events(await client.call(1, "works", { name: "a" })).rest();
    const away = new AbortController();
    const unasked = new Events(await client.get(undefined, away.signal));
    expect(endpoint.live).toBe(1);
    away.abort();
    await unasked.rest().catch(() => {});
    await until(() => endpoint.live === 0);
  });

  test("nothing is left of a client that had gone before there was anything to tell it", async () => {
    const { url, script, endpoint } = await start({ maxEvents: 0 });
    const client = await openSession(url);
    const away = new AbortController();
    const gone = client.call(1, "works", { name: "a" }, away.signal);
    await script("a").tell("ready");
    away.abort();
    await gone.catch(() => {});
    // The server hears of it before it hears of this.
    for (let count = 0; count < 3; count++) await client.post({ jsonrpc: "2.0", id: 2, method: "ping" });
    await script("a").tell(1);
    await script("a").tell("end");
    await until(() => endpoint.live === 0);
  });

  test("finished streams are forgotten, the oldest first", () => {
    let idle = 0;
    const limits = { maxInFlight: 1, answerTimeout: undefined };
    const live = new LiveSession(strangerSession("2025-11-25"), limits, () => idle++);
    const options = {
      resumable: true,
      primes: true,
      maxEvents: 10,
      requests: [],
      maxBufferedBytes: 100,
      keepAlive: 1000,
      budget: new EventBudget(1000),
    };
    const streams = Array.from({ length: 100 }, () => live.openStream(options));
    for (const stream of streams) stream.end();
    const found = streams.map(({ id }) => live.placeIn(id, 0) !== undefined);
    expect(found).toEqual([...Array(36).fill(false), ...Array(64).fill(true)]);
    expect(idle).toBe(0);
    live.forget(Date.now() - 60_000);
    expect(idle).toBe(0);
    live.forget(Date.now());
    expect(idle).toBe(1);
    expect(streams.some(({ id }) => live.placeIn(id, 0) !== undefined)).toBe(false);
  });

  test("idle streams get comments", async () => {
    const { url, script } = await start({ keepAlive: 5 });
    const client = await openSession(url);
    void script("a").tell(1);
    for (const response of [await client.get(), await client.call(1, "works", { name: "a" })]) {
      let text = "";
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        text += Buffer.from(chunk).toString();
        if (text.includes("\n\n:\n\n:\n\n")) break;
      }
    }
  });
});

describe("without sessions", () => {
  test("nothing is shared: no id cancels or answers another's call", async () => {
    const { url, script, endpoint } = await start({ sessions: "stateless" });
    const [one, other] = [await openSession(url), await openSession(url)];
    expect(one.id).toBeNull();
    void script("a").tell(1);
    const events = new Events(await one.call(1, "works", { name: "a" }));
    expect((await events.next())?.id).toBeUndefined();
    await other.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    expect((await other.post({ jsonrpc: "2.0", id: 1, result: {} })).status).toBe(400);
    expect((await other.call(1, "echo", { text: "mine" })).status).toBe(200);
    await script("a").tell("end");
    expect((await events.rest()).map(gist)).toEqual(["answer 1: a done"]);
    expect(endpoint.live).toBe(0);
  });

  test("who goes away has cancelled, as nobody could come back for the answer: its own call alone", async () => {
    const { url, script } = await start({ sessions: "stateless" });
    const client = await openSession(url);
    const away = new AbortController();
    for (const name of ["leaves", "stays"]) void script(name).tell(1);
    await new Events(await client.call(1, "works", { name: "leaves" }, away.signal)).next();
    const stays = new Events(await client.call(1, "works", { name: "stays" }));
    await stays.next();
    away.abort();
    await script("leaves").cancelled;
    await script("stays").tell("end");
    expect((await stays.rest()).map(gist)).toEqual(["answer 1: stays done"]);
  });

  test("a client cannot be asked", async () => {
    const { url, script } = await start({ sessions: "stateless" });
    const client = await openSession(url);
    void script("a").tell("ask");
    const { error } = (await (await client.call(1, "works", { name: "a" })).json()) as Json;
    expect(error.message).toContain("Missing client capability");
  });
});
