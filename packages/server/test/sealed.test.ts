/** Sealed sessions: who can open an id, for how long, how long it may be, and what is known to one instance alone. */

import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { McpServer } from "../src/index.ts";
import { type SessionRecord, strangerSession } from "../src/legacy/session.ts";
import { createSealer } from "../src/sealing.ts";
import { Recent } from "../src/sessions/recent.ts";
import { serveFetch } from "../src/transports/fetch.ts";
import { memorySessions, sealedSessions } from "../src/transports/http.ts";
import { HEADERS } from "./streamable.ts";
import { INITIALIZE, type Json } from "./wire.ts";

const OLD = "an old secret of 32 characters or more";
const NEW = "the new secret of 32 characters or more";
const record: SessionRecord = {
  ...strangerSession("2025-11-25"),
  key: "6f0f6c0e-8d5c-4a7e-9d7d-2f8f0a5d5c11",
  client: { info: { name: "Ünï", version: "1" }, capabilities: { elicitation: {} } },
};
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Sets the clock, and nothing but the clock. */
function at(now: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now });
}
afterEach(() => void vi.useRealTimers());

async function create(store = sealedSessions({ secrets: [NEW] }), of = record): Promise<string> {
  return (await store.create(of)) as string;
}

describe("an id", () => {
  test("is opened by any instance with its secret, and is visible ASCII", async () => {
    const id = await create();
    expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(await sealedSessions({ secrets: [NEW] }).get(id)).toEqual(record);
    expect(await sealedSessions({ secrets: [OLD] }).get(id)).toBeUndefined();
    expect(await create()).not.toBe(id);
  });

  test("shows nothing of its record", async () => {
    const [, bytes] = [await create(), Buffer.from(await create(), "base64url").toString("latin1")];
    for (const shown of ["2025-11-25", "elicitation", record.key as string])
      expect(bytes).not.toContain(shown);
  });

  test("is nothing when any bit of it is another", async () => {
    const id = await create();
    const store = sealedSessions({ secrets: [NEW] });
    for (let place = 0; place < id.length; place++) {
      const value = ALPHABET.indexOf(id[place] as string);
      for (const bit of [1, 2, 4, 8, 16, 32]) {
        const tampered = id.slice(0, place) + ALPHABET[value ^ bit] + id.slice(place + 1);
        if ((await store.get(tampered)) !== undefined) throw new Error(`bit ${bit} of character ${place}`);
      }
    }
    expect(await store.get(id)).toEqual(record);
  });

  test("is nothing when it is cut, doubled, or any text", async () => {
    const id = await create();
    const store = sealedSessions({ secrets: [NEW] });
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.nat(id.length - 1).map((length) => id.slice(0, length)),
      fc.constantFrom(`${id}${id}`, `${id}=`, `${id}A`, ` ${id}`, `a.${id}`, `.${id}`),
    );
    await fc.assert(fc.asyncProperty(texts, async (text) => (await store.get(text)) === undefined));
  });

  test("is nothing when it was sealed for another purpose, by the same secret", async () => {
    const payload = { since: Date.now(), record: { ...record } } as Json;
    const store = sealedSessions({ secrets: [NEW] });
    expect(await store.get(await createSealer("state", [NEW]).seal(payload))).toBeUndefined();
    expect(await store.get(await createSealer("session", [NEW]).seal(payload))).toEqual(record);
  });

  test("is opened by old secrets and sealed by the first: they rotate", async () => {
    const before = await create(sealedSessions({ secrets: [OLD] }));
    const rotating = sealedSessions({ secrets: [NEW, OLD] });
    expect(await rotating.get(before)).toEqual(record);
    expect(await sealedSessions({ secrets: [NEW] }).get(await create(rotating))).toEqual(record);
    expect(await sealedSessions({ secrets: [NEW] }).get(before)).toBeUndefined();
  });

  test("lives for maxAgeMs, busy or not, on every instance", async () => {
    at(0);
    const [one, other] = [1, 2].map(() => sealedSessions({ secrets: [NEW], maxAgeMs: 100 }));
    const id = await create(one);
    at(99);
    expect(await one?.get(id)).toEqual(record);
    at(100);
    expect([await one?.get(id), await one?.has(id), await other?.get(id)]).toEqual([
      undefined,
      false,
      undefined,
    ]);
    expect(await one?.delete(id)).toBe(false);
  });

  test("begins with its instance's name, which cannot be changed", async () => {
    const id = await create(sealedSessions({ secrets: [NEW], instance: "pod-7" }));
    expect(id).toMatch(/^pod-7\.[A-Za-z0-9_-]+$/);
    const other = sealedSessions({ secrets: [NEW], instance: "pod-8" });
    expect(await other.get(id)).toEqual(record);
    for (const prefix of ["pod-8.", "", "pod-7.pod-7."]) {
      expect(await other.get(id.replace("pod-7.", prefix))).toBeUndefined();
    }
    expect(memorySessions({ instance: "a" }).create(record)).toMatch(/^a\.[0-9a-f-]{36}$/);
    for (const wrong of ["", "A", "a.b", "a b", "ä", "a\n"]) {
      expect(() => sealedSessions({ secrets: [NEW], instance: wrong })).toThrow(/instance/);
      expect(() => memorySessions({ instance: wrong })).toThrow(/instance/);
    }
  });
});

test("secrets are there, and long", () => {
  expect(() => sealedSessions({ secrets: [] })).toThrow(/openssl rand -hex 32/);
  expect(() => sealedSessions({ secrets: [NEW, "short"] })).toThrow(/32 characters/);
});

describe("maxSessionLength", () => {
  const limited = { data: { limit: "maxSessionLength", value: 600 } };

  test("bounds the id, and what is remembered of a session", async () => {
    const store = sealedSessions({ secrets: [NEW], maxSessionLength: 600 });
    const info = { name: "x".repeat(600), version: "1" };
    await expect(create(store, { ...record, client: { info, capabilities: {} } })).rejects.toMatchObject(
      limited,
    );
    const id = await create(store);
    expect(id.length).toBeLessThanOrEqual(600);
    const long = { ...record, watched: [`test://${"x".repeat(600)}`] };
    await expect((async () => store.update(id, () => long))()).rejects.toMatchObject(limited);
    expect(await store.get(id)).toEqual(record);
  });

  test("is a 400 over HTTP, that names it", async () => {
    const serving = serveFetch(new McpServer({ name: "s", version: "1" }), {
      allowedHosts: ["mcp.test"],
      sessions: sealedSessions({ secrets: [NEW] }),
    });
    const open = async (name: string) => {
      const params = { ...INITIALIZE, clientInfo: { name, version: "1" } };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
      return serving.fetch(new Request("https://mcp.test", { method: "POST", headers: HEADERS, body }));
    };
    const long = await open("x".repeat(6000));
    expect([long.status, ((await long.json()) as Json).error.data]).toEqual([
      400,
      { limit: "maxSessionLength", value: 6144 },
    ]);
    const fitting = await open("x".repeat(3000));
    const id = fitting.headers.get("mcp-session-id") as string;
    expect([fitting.status, id.length > 4000]).toEqual([200, true]);
    serving.close();
  });
});

test("where answers may go to another instance, nobody is asked: the call fails at once, and says why", async () => {
  const server = new McpServer({ name: "s", version: "1" });
  server.tool("ask", {}, async (_args, ctx) => {
    const { action } = await ctx.elicit("Sure?", { type: "object", properties: {} });
    return action;
  });
  const sessions = sealedSessions({ secrets: [NEW], takesAnswers: false });
  const serving = serveFetch(server, { allowedHosts: ["mcp.test"], sessions });
  const post = (message: object, session: Record<string, string> = {}) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...message });
    const headers = { ...HEADERS, ...session };
    return serving.fetch(new Request("https://mcp.test", { method: "POST", headers, body }));
  };
  const params = { ...INITIALIZE, capabilities: { elicitation: {} } };
  const opened = await post({ method: "initialize", params });
  const id = opened.headers.get("mcp-session-id") as string;
  const called = await post({ method: "tools/call", params: { name: "ask" } }, { "mcp-session-id": id });
  const { result } = (await called.json()) as Json;
  expect([result.isError, result.content[0].text]).toEqual([
    true,
    expect.stringContaining("its answer may come to another instance"),
  ]);
  serving.close();
});

describe("what changes", () => {
  test("is known to this instance alone, and outlives what is kept open", async () => {
    const [one, other] = [1, 2].map(() => sealedSessions({ secrets: [NEW] }));
    const id = await create(one);
    await one?.update(id, (kept) => ({ ...kept, logLevel: "error" }));
    expect(await one?.get(id)).toMatchObject({ logLevel: "error" });
    expect(await other?.get(id)).toMatchObject({ logLevel: "info" });
    expect(await one?.delete(id)).toBe(true);
    expect([await one?.get(id), await one?.has(id), await one?.delete(id)]).toEqual([
      undefined,
      false,
      false,
    ]);
    await one?.update(id, () => record);
    expect(await one?.get(id)).toBeUndefined();
    expect(await other?.get(id)).toEqual(record);
  });

  test("is forgotten, the oldest first, beyond maxRemembered", async () => {
    const store = sealedSessions({ secrets: [NEW], maxRemembered: 2 });
    const ids = [];
    for (let number = 0; number < 3; number++) {
      ids.push(await create(store, { ...record, key: `key ${number}` }));
    }
    for (const id of ids) await store.delete(id);
    expect(await Promise.all(ids.map((id) => store.has(id)))).toEqual([true, false, false]);
  });
});

describe("what checks form only", () => {
  const form = () => sealedSessions({ verify: "form" });

  test("opens what any other made, with no secret", async () => {
    const id = await create(form());
    expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(await form().get(id)).toEqual(record);
    expect(await form().get(await create())).toBeUndefined();
    expect(await sealedSessions({ secrets: [NEW] }).get(id)).toBeUndefined();
  });

  test("takes no record of another form", async () => {
    const encoded = (payload: unknown) => Buffer.from(JSON.stringify(payload)).toString("base64url");
    const since = Date.now();
    expect(await form().get(encoded({ since, record }))).toEqual(record);
    for (const wrong of [
      1,
      [],
      {},
      { since },
      { since: "0", record },
      { since, record: { ...record, key: 7 } },
      { since, record: { ...record, revision: "2026-07-28" } },
      { since, record: { ...record, client: { info: 1, capabilities: {} } } },
      { since, record: { ...record, client: {} } },
      { since, record: { ...record, logLevel: "loud" } },
      { since, record: { ...record, watched: [1] } },
      { since, name: 1, record },
    ]) {
      expect(await form().get(encoded(wrong)), JSON.stringify(wrong)).toBeUndefined();
    }
    await fc.assert(
      fc.asyncProperty(fc.json(), async (text) => (await form().get(encoded(text))) === undefined),
    );
  });
});

test("what was asked for lately is kept, and no more than fits", () => {
  const recent = new Recent<number>(40);
  const key = (number: number) => `${number}`.padStart(10, "0");
  for (let number = 0; number < 1000; number++) {
    recent.set(key(number), number);
    expect(recent.get(key(0)), `after ${number}`).toBe(0);
  }
  const kept = Array.from({ length: 1000 }, (_, number) => recent.get(key(number))).filter(
    (value) => value !== undefined,
  );
  expect(kept.length).toBeLessThanOrEqual(8);
  recent.delete(key(999));
  expect(recent.get(key(999))).toBeUndefined();
});
