/** Sessions in memory: how long they live, how many there may be, and what they cost. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ANYBODY } from "../src/auth/access.ts";
import { McpServer } from "../src/index.ts";
import { EventBudget } from "../src/legacy/event-budget.ts";
import { EventStream } from "../src/legacy/event-stream.ts";
import { type SessionRecord, strangerSession } from "../src/legacy/session.ts";
import { serveFetch } from "../src/transports/fetch.ts";
import { createEndpoint } from "../src/transports/http/endpoint.ts";
import type { HttpExchange } from "../src/transports/http/exchange.ts";
import { memorySessions } from "../src/transports/http.ts";
import { HEADERS } from "./streamable.ts";
import { INITIALIZE, type Json } from "./wire.ts";

const record = strangerSession("2025-11-25");

/** Sets the clock, and nothing but the clock. */
function at(now: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now });
}
afterEach(() => void vi.useRealTimers());

function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

describe("a session", () => {
  test("lives as long as it is asked for", () => {
    at(0);
    const store = memorySessions({ idleMs: 100 });
    const id = store.create(record) as string;
    for (const now of [99, 198, 297]) {
      at(now);
      expect(store.get(id)).toBe(record);
    }
    at(397);
    expect(store.get(id)).toBeUndefined();
    expect(store.delete(id)).toBe(false);
  });

  test("does not live longer for being looked at or changed", () => {
    at(0);
    const store = memorySessions({ idleMs: 100 });
    const id = store.create(record) as string;
    at(99);
    expect(store.has(id)).toBe(true);
    void store.update(id, (kept) => ({ ...kept, logLevel: "debug" }));
    at(100);
    expect(store.has(id)).toBe(false);
    void store.update(id, () => record);
    expect(store.get(id)).toBeUndefined();
  });

  test("keeps what has changed, and is gone when deleted", () => {
    const store = memorySessions();
    const id = store.create(record) as string;
    void store.update(id, (kept) => ({ ...kept, watched: ["test://a"] }));
    expect((store.get(id) as SessionRecord).watched).toEqual(["test://a"]);
    expect(store.delete(id)).toBe(true);
    expect(store.delete(id)).toBe(false);
    expect(store.get(id)).toBeUndefined();
    void store.update(id, () => record);
    expect(store.get(id)).toBeUndefined();
  });

  test("has an id that nobody can guess, of visible ASCII", () => {
    const store = memorySessions();
    const ids = Array.from({ length: 1000 }, () => store.create(record) as string);
    expect(new Set(ids).size).toBe(1000);
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test("keeps no more than maxSessionLength", () => {
    const store = memorySessions({ maxSessionLength: 1000 });
    const limited = expect.objectContaining({ data: { limit: "maxSessionLength", value: 1000 } });
    const info = { name: "x".repeat(1000), version: "1" };
    expect(() => store.create({ ...record, client: { info, capabilities: {} } })).toThrow(limited);
    const id = store.create(record) as string;
    expect(() => store.update(id, () => ({ ...record, watched: [`test://${"x".repeat(1000)}`] }))).toThrow(
      limited,
    );
    expect(store.get(id)).toBe(record);
  });
});

test.each(["memory", "redis://127.0.0.1", {}, null])("%o is no store, and nothing is served", (sessions) => {
  const server = new McpServer({ name: "s", version: "1" });
  const options = { sessions } as unknown as Parameters<typeof createEndpoint>[2];
  expect(() => createEndpoint(server, "127.0.0.1", options)).toThrow(
    /sessions takes "stateless", or a store/,
  );
});

describe("maxSessions", () => {
  test("is not passed, but the idle make room, the idlest first", () => {
    at(0);
    const store = memorySessions({ idleMs: 100, maxSessions: 2 });
    const first = store.create(record) as string;
    at(50);
    const second = store.create(record) as string;
    expect(() => store.create(record)).toThrow(/maxSessions/);
    at(60);
    store.get(first);
    at(149);
    expect(() => store.create(record)).toThrow(/maxSessions/);
    at(150);
    expect(store.create(record)).toBeTypeOf("string");
    expect([store.has(first), store.has(second)]).toEqual([true, false]);
  });

  test("is a 503 over HTTP; what is no capacity is a 400", async () => {
    const serving = serveFetch(new McpServer({ name: "s", version: "1" }), {
      allowedHosts: ["mcp.test"],
      sessions: memorySessions({ maxSessions: 1, maxSessionLength: 500 }),
    });
    const open = async (params: Json = INITIALIZE) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
      return serving.fetch(new Request("https://mcp.test", { method: "POST", headers: HEADERS, body }));
    };
    const long = await open({ ...INITIALIZE, clientInfo: { name: "x".repeat(1000), version: "1" } });
    expect([long.status, ((await long.json()) as Json).error.data.limit]).toEqual([400, "maxSessionLength"]);
    expect((await open()).status).toBe(200);
    const refused = await open();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(((await refused.json()) as Json).error.data).toEqual({ limit: "maxSessions", value: 1 });
  });
});

/** An exchange with nothing between, so that a flood costs what the endpoint makes of it. */
function exchange(body: string, respond: (status: number) => void): HttpExchange {
  const headers: Record<string, string> = { host: "mcp.test", ...HEADERS };
  return {
    method: "POST",
    path: "/mcp",
    access: ANYBODY,
    query: new URLSearchParams(),
    header: (name) => headers[name],
    readBody: (_maxBytes, done) => done(body),
    respond,
    setHeader() {},
    openStream() {},
    write: () => 0,
    end() {},
    destroy() {},
    onOver() {},
  };
}

test("50,000 initializes cost no more memory than maxSessions allows", async () => {
  at(0);
  const endpoint = createEndpoint(new McpServer({ name: "s", version: "1" }), undefined, {
    allowedHosts: ["mcp.test"],
    sessions: memorySessions({ maxSessions: 1000, idleMs: 1000 }),
  });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE });
  const statuses = new Map<number, number>();
  const open = async (count: number) => {
    for (let index = 0; index < count; index++) {
      const status = await new Promise<number>((resolve) => endpoint.handle(exchange(body, resolve)));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await open(2000);
  expect(Object.fromEntries(statuses)).toEqual({ 200: 1000, 503: 1000 });
  const full = heapAfterCollection();
  // A flood that is refused, then one whose sessions all idle away.
  await open(8000);
  for (let round = 1; round <= 40; round++) {
    at(round * 1000);
    await open(1000);
  }
  expect(statuses.get(200)).toBe(41_000);
  expect(heapAfterCollection() - full).toBeLessThan(4 * 1024 * 1024);
}, 120_000);

test("one who opens all sessions there may be keeps others out for a moment only", async () => {
  const record = strangerSession("2025-11-25");
  const guarded = memorySessions({ maxSessions: 2 });
  await guarded.create(record);
  await guarded.create(record);
  expect(() => guarded.create(record)).toThrow(/maxSessions/);
  const yielding = memorySessions({ maxSessions: 2, safeMs: 0 });
  const [first, second] = [await yielding.create(record), await yielding.create(record)];
  const third = await yielding.create(record);
  expect([
    yielding.has(first as string),
    yielding.has(second as string),
    yielding.has(third as string),
  ]).toEqual([false, true, true]);
});

test("what streams keep is bounded in all, and the oldest lets go first", () => {
  const budget = new EventBudget(100);
  const options = {
    resumable: true,
    primes: false,
    maxEvents: 10,
    requests: [],
    maxBufferedBytes: 1000,
    keepAlive: 1000,
    budget,
  };
  const streams = ["a", "b", "c"].map((id) => new EventStream(id, options, () => {}));
  for (const stream of streams) stream.send("x".repeat(40));
  expect(budget.used).toBe(80);
  expect(streams.map((stream) => stream.hasAfter(0))).toEqual([false, true, true]);
  streams[1]?.forget();
  expect(budget.used).toBe(40);
  streams[2]?.send("x".repeat(200));
  expect(budget.used).toBe(0);
});
