/** What every kind of sessions does, whatever keeps them: one suite over stateless, sealed, memory and redis. */

import { afterEach, describe, expect, test } from "vitest";
import { type SessionRecord, strangerSession } from "../src/legacy/session.ts";
import type { EndpointOptions } from "../src/transports/http/endpoint.ts";
import type { SessionStore } from "../src/transports/http.ts";
import { Events, gist, HEADERS, type Mounted, mount, scripted, sessionAt } from "./streamable.ts";
import { INITIALIZE, type Json } from "./wire.ts";

/** A kind of sessions, and its clock. */
export interface SessionKind {
  open(options: { idleMs?: number; maxSessions?: number; maxSessionLength?: number }): Promise<SessionStore>;
  /** Lets time pass for what is kept. */
  pass(ms: number): Promise<void>;
  /** Whether a session ends by idling, and their number is bounded. */
  keeps: boolean;
}

export const RECORD: SessionRecord = { ...strangerSession("2025-11-25"), key: "k", watched: ["test://a"] };

async function open(store: SessionStore, record = RECORD): Promise<string> {
  return (await store.create(record)) as string;
}

export function describeSessionStore(name: string, kind: SessionKind): void {
  describe(name, () => {
    test("keeps what it is given, and what becomes of it", async () => {
      const store = await kind.open({});
      const id = await open(store);
      expect(await store.get(id)).toEqual(RECORD);
      const changed = await store.update(id, (record) => ({ ...record, logLevel: "error" }));
      expect(changed).toEqual({ ...RECORD, logLevel: "error", changes: changed?.changes });
      expect(await store.get(id)).toEqual(changed);
      expect(await store.has(id)).toBe(true);
    });

    test("has ids that nobody can guess, of visible ASCII", async () => {
      const store = await kind.open({});
      const ids = await Promise.all(Array.from({ length: 100 }, () => open(store)));
      expect(new Set(ids).size).toBe(100);
      for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{36,}$/);
      for (const id of ["", "x", "../x", `${ids[0]}x`]) expect(await store.get(id)).toBeUndefined();
    });

    test("makes all changes that come at the same time", async () => {
      const store = await kind.open({});
      const id = await open(store, { ...RECORD, watched: [] });
      const uris = Array.from({ length: 16 }, (_, index) => `test://${index}`);
      const add = (uri: string) =>
        store.update(id, (record) => ({ ...record, watched: [...record.watched, uri] }));
      await Promise.all(uris.map(add));
      expect([...((await store.get(id))?.watched ?? [])].sort()).toEqual(uris.sort());
    });

    test("ends a session that is deleted, and changes do not bring it back", async () => {
      const store = await kind.open({});
      const id = await open(store);
      expect(await store.delete(id)).toBe(true);
      expect(await store.delete(id)).toBe(false);
      expect(await store.get(id)).toBeUndefined();
      expect(await store.update(id, (record) => record)).toBeUndefined();
      expect([await store.get(id), await store.has(id)]).toEqual([undefined, false]);
    });

    test("keeps no more than maxSessionLength, and what a change throws changes nothing", async () => {
      const store = await kind.open({ maxSessionLength: 1000 });
      const limited = { data: { limit: "maxSessionLength", value: 1000 } };
      const long = { ...RECORD, watched: [`test://${"x".repeat(1000)}`] };
      await expect((async () => store.create(long))()).rejects.toMatchObject(limited);
      const id = await open(store);
      await expect((async () => store.update(id, () => long))()).rejects.toMatchObject(limited);
      const refuse = () => {
        throw new Error("no");
      };
      await expect((async () => store.update(id, refuse))()).rejects.toThrow("no");
      expect(await store.get(id)).toEqual(RECORD);
    });

    if (!kind.keeps) return;

    test("ends a session that idles, but none that is asked for", async () => {
      const store = await kind.open({ idleMs: 60_000 });
      const [asked, idle] = [await open(store), await open(store)];
      for (let round = 0; round < 3; round++) {
        await kind.pass(45_000);
        expect(await store.get(asked)).toEqual(RECORD);
      }
      expect([await store.get(idle), await store.has(idle)]).toEqual([undefined, false]);
      // To be looked at or changed is not to be asked for.
      await kind.pass(45_000);
      expect(await store.has(asked)).toBe(true);
      await store.update(asked, (record) => ({ ...record, logLevel: "debug" }));
      await kind.pass(45_000);
      expect([await store.has(asked), await store.get(asked)]).toEqual([false, undefined]);
    });

    test("holds no more than maxSessions; the idlest makes room, unless it is in use", async () => {
      const store = await kind.open({ maxSessions: 2 });
      const limited = { data: { limit: "maxSessions", value: 2 } };
      const first = await open(store);
      await kind.pass(20_000);
      const second = await open(store);
      await expect((async () => store.create(RECORD))()).rejects.toMatchObject(limited);
      await kind.pass(20_000);
      const third = await open(store);
      expect([await store.has(first), await store.has(second), await store.has(third)]).toEqual([
        false,
        true,
        true,
      ]);
      await expect((async () => store.create(RECORD))()).rejects.toMatchObject(limited);
      expect(await store.count?.()).toBe(2);
      expect(await store.delete(third)).toBe(true);
      expect(await store.count?.()).toBe(1);
      expect(await open(store)).toBeTypeOf("string");
    });
  });
}

/** What a client sees of any kind, over HTTP. */
export function describeServedSessions(
  name: string,
  sessions: () => Promise<EndpointOptions["sessions"]>,
): void {
  describe(name, () => {
    let mounted: Mounted | undefined;
    afterEach(async () => mounted?.close());

    async function start(options: EndpointOptions = {}) {
      const { server, script } = scripted();
      mounted = await mount(server, { ...options, sessions: await sessions() } as EndpointOptions);
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE });
      const { url } = mounted;
      const opened = await fetch(url, { method: "POST", headers: HEADERS, body });
      const id = opened.headers.get("mcp-session-id");
      const { result } = (await opened.json()) as Json;
      return { server, script, url, id, result };
    }

    test("a session is opened and served, and one that is none is refused", async () => {
      const { url, id, result } = await start();
      expect(result.protocolVersion).toBe("2025-11-25");
      const client = sessionAt(url, id ?? "");
      expect(gist((await (await client.call(2, "echo", { text: "hi" })).json()) as Json)).toBe(
        "answer 2: hi",
      );
      if (id === null) return;
      expect((await sessionAt(url, `${id}x`).call(3, "echo", { text: "" })).status).toBe(404);
      expect((await client.delete()).status).toBe(204);
      expect((await client.call(4, "echo", { text: "" })).status).toBe(404);
    });

    test("a call reports before it answers", async () => {
      const { url, id, script } = await start();
      const client = sessionAt(url, id ?? "");
      for (const step of [1, 2, "end"] as const) void script("x").tell(step);
      const events = await new Events(await client.call(1, "works", { name: "x" })).rest();
      const told = events.map(gist).filter((what) => what !== "primer");
      expect(told).toEqual(["progress 1", "progress 2", "answer 1: x done"]);
    });

    test("a session can be asked, and hears of changes", async () => {
      const { server, url, id, script } = await start();
      // Without a session there is nobody to ask, nor a stream to tell.
      if (id === null) return expect((await sessionAt(url, "").get()).status).toBe(405);
      const client = sessionAt(url, id);
      const unasked = new Events(await client.get());
      await unasked.next();
      void script("x").tell("ask");
      const events = new Events(await client.call(1, "works", { name: "x" }));
      const { id: question } = await events.message();
      const answer = { jsonrpc: "2.0", id: question, result: { action: "decline" } };
      expect((await client.post(answer)).status).toBe(202);
      expect((await events.message()).params.message).toBe("decline");
      void script("x").tell("end");
      await events.rest();
      await client.post({
        jsonrpc: "2.0",
        id: 2,
        method: "resources/subscribe",
        params: { uri: "test://watched" },
      });
      server.resourceUpdated("test://watched");
      expect(gist(await unasked.message())).toBe("notifications/resources/updated");
    });
  });
}
