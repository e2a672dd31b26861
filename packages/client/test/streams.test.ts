/** Streams of a legacy server over HTTP: the one of what it tells unasked, and each that is taken up again. */

import type { JsonObject } from "@patchbay/core";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Client, type ConnectOptions, connect } from "../src/index.ts";
import { LegacyStream } from "../src/transports/legacy-stream.ts";
import type { Reply, ReplyListener } from "../src/transports/reply.ts";
import { StreamPosition } from "../src/transports/stream-position.ts";
import { events, type Hit, type HttpFixture, httpFixture, initialized, rpcError } from "./fixtures/http.ts";

const TEXT = { content: [{ type: "text", text: "done" }] };
const cleanups: (() => Promise<unknown>)[] = [];

async function serving(respond: (hit: Hit) => void): Promise<HttpFixture> {
  const fixture = await httpFixture(respond);
  cleanups.push(fixture.close);
  return fixture;
}

async function connected(url: string, options?: ConnectOptions): Promise<Client> {
  const client = await connect(url, { era: "legacy", ...options });
  cleanups.unshift(() => client.close());
  return client;
}

/** A raw piece of a stream. */
function event(hit: Hit, lines: string[]): void {
  if (!hit.response.headersSent) hit.response.writeHead(200, { "content-type": "text/event-stream" });
  hit.response.write(`${lines.join("\n")}\n\n`);
}

const answer = (hit: Hit | undefined, result: JsonObject = TEXT) =>
  `data: ${JSON.stringify({ jsonrpc: "2.0", id: hit?.message.id, result })}`;
const gets = (hits: Hit[]) => hits.filter(({ verb }) => verb === "GET");

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

describe("what a server tells unasked", () => {
  test("comes by a GET, once the session is open, and may be a question", async () => {
    const { url, hits } = await serving((hit) => {
      if (hit.verb === "GET") events(hit, { id: "r", method: "roots/list" });
      else if (!initialized(hit, "s-1")) hit.response.writeHead(202).end();
    });
    await connected(url, { roots: [{ uri: "file:///a" }] });
    const reply = await vi.waitFor(() => {
      const found = hits.find(({ message }) => message.id === "r");
      if (found === undefined) throw new Error("not yet");
      return found;
    });
    expect(reply.message).toEqual({ jsonrpc: "2.0", id: "r", result: { roots: [{ uri: "file:///a" }] } });
    expect(gets(hits)[0]?.headers).toMatchObject({
      accept: "text/event-stream",
      "mcp-session-id": "s-1",
      "mcp-protocol-version": "2025-11-25",
    });
    expect(gets(hits)[0]?.headers).not.toHaveProperty("last-event-id");
    expect(hits.findIndex(({ verb }) => verb === "GET")).toBeGreaterThan(
      hits.findIndex(({ message }) => message.method === "notifications/initialized"),
    );
  });

  test("is not asked for again and again when it passes maxMessageBytes: the application is warned", async () => {
    const warnings: Error[] = [];
    const { url, hits } = await serving((hit) => {
      if (hit.verb !== "GET") return initialized(hit, "s-1");
      if (gets(hits).length === 1) event(hit, ["retry: 1", "id: a-1", "data:"]);
      hit.response.write(`id: a-2\ndata: ${"x".repeat(5000)}`);
    });
    await connected(url, { maxMessageBytes: 1000, onWarning: (warning) => warnings.push(warning) });
    await vi.waitFor(() => expect(warnings).toHaveLength(1), 5_000);
    expect(warnings[0]).toMatchObject({ reason: "too-large" });
    expect(warnings[0]?.message).toMatch(/larger than maxMessageBytes allows \(1000\).*not heard any more/);
    expect(gets(hits)).toHaveLength(1);
  });

  test("is heard again after the stream broke off, from there on, each event once", async () => {
    const told: unknown[] = [];
    const { url, hits } = await serving((hit) => {
      if (hit.verb !== "GET") return initialized(hit, "s-1");
      const log = (data: string) =>
        `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data } })}`;
      if (gets(hits).length === 1) {
        event(hit, ["retry: 1", "id: a-1", log("one")]);
        hit.response.end();
      } else if (gets(hits).length === 2) {
        event(hit, ["id: a-1", log("one")]);
        event(hit, ["id: a-2", log("two")]);
        hit.response.write(":\n\n", () => hit.response.socket?.end());
      } else {
        event(hit, ["id: a-3", log("three")]);
      }
    });
    await connected(url, { onLog: ({ data }) => told.push(data) });
    await vi.waitFor(() => expect(told).toEqual(["one", "two", "three"]), { timeout: 5_000 });
    expect(gets(hits).map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "a-1", "a-2"]);
  });

  test("starts anew where the server does not know the place any more", async () => {
    const { url, hits } = await serving((hit) => {
      if (hit.verb !== "GET") return initialized(hit, "s-1");
      if (hit.headers["last-event-id"] !== undefined) return rpcError(hit, 400, -32600);
      event(hit, ["retry: 1", "id: a-1", "data: "]);
      if (gets(hits).length === 1) hit.response.end();
    });
    await connected(url);
    await vi.waitFor(() => expect(gets(hits)).toHaveLength(3), { timeout: 5_000 });
    expect(gets(hits).map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "a-1", undefined]);
  });

  test("comes by a new stream in a new session, when the old one is gone", async () => {
    let session = 0;
    const { url, hits } = await serving((hit) => {
      if (hit.message.method === "initialize") session++;
      if (hit.verb !== "GET") return initialized(hit, `s-${session}`);
      if (gets(hits).length === 2) return hit.response.writeHead(404).end();
      event(hit, ["retry: 1", "data: "]);
      if (gets(hits).length === 1) hit.response.end();
    });
    await connected(url);
    await vi.waitFor(() => expect(gets(hits)).toHaveLength(3), { timeout: 5_000 });
    expect(gets(hits).map(({ headers }) => headers["mcp-session-id"])).toEqual(["s-1", "s-1", "s-2"]);
  });
});

describe("an answer whose stream breaks off", () => {
  test.each(["ends", "is cut"])("is fetched by GET when its connection %s (SEP-1699)", async (how) => {
    let asked: Hit | undefined;
    const { url, hits } = await serving((hit) => {
      if (hit.verb === "GET" && hit.headers["last-event-id"] === "b-1") {
        event(hit, ["id: b-2", answer(asked)]);
      } else if (!initialized(hit, "s-1")) {
        asked = hit;
        event(hit, ["retry: 1", "id: b-1", "data: "]);
        if (how === "ends") hit.response.end();
        else hit.response.write(":\n\n", () => hit.response.socket?.end());
      }
    });
    const client = await connected(url);
    expect(await client.callTool("a")).toEqual(TEXT);
    expect(hits.filter(({ message }) => message.method === "tools/call")).toHaveLength(1);
    expect(hits.find(({ headers }) => headers["last-event-id"] === "b-1")?.headers["mcp-session-id"]).toBe(
      "s-1",
    );
  });

  test("may bring questions on the way, and be polled for more than once", async () => {
    let asked: Hit | undefined;
    const { url, hits } = await serving((hit) => {
      const after = hit.headers["last-event-id"];
      if (hit.verb === "GET" && after === "b-1") {
        event(hit, ["id: b-2", `data: ${JSON.stringify({ jsonrpc: "2.0", id: "q", method: "roots/list" })}`]);
        hit.response.end();
      } else if (hit.verb === "GET" && after === "b-2") {
        event(hit, ["id: b-3", answer(asked)]);
      } else if (hit.message.method === "tools/call") {
        asked = hit;
        event(hit, ["retry: 1", "id: b-1", "data: "]);
        hit.response.end();
      } else if (!initialized(hit)) {
        hit.response.writeHead(202).end();
      }
    });
    const client = await connected(url, { roots: [] });
    expect(await client.callTool("a")).toEqual(TEXT);
    await vi.waitFor(() =>
      expect(hits.map(({ message }) => message)).toContainEqual({
        jsonrpc: "2.0",
        id: "q",
        result: { roots: [] },
      }),
    );
  });

  test("is lost where the server gives nothing to go on with, or does not know it", async () => {
    const { url } = await serving((hit) => {
      if (hit.verb === "GET" && hit.headers["last-event-id"] !== undefined) return rpcError(hit, 400, -32600);
      if (initialized(hit)) return;
      const { name } = hit.message.params as JsonObject;
      event(hit, name === "no id" ? ["data: "] : ["retry: 1", "id: b-1", "data: "]);
      hit.response.end();
    });
    const client = await connected(url);
    await expect(client.callTool("no id")).rejects.toThrow("ended tools/call without an answer");
    await expect(client.callTool("id")).rejects.toThrow("answered 400 to who came back for it");
  });

  test("is not waited for when the request is cancelled", async () => {
    const controller = new AbortController();
    const { url, hits } = await serving((hit) => {
      if (hit.verb === "GET" && hit.headers["last-event-id"] !== undefined) {
        hit.response.once("close", () => closed());
        event(hit, ["data: "]);
        return controller.abort();
      }
      if (hit.message.method === "notifications/cancelled") return hit.response.writeHead(202).end();
      if (initialized(hit)) return;
      event(hit, ["retry: 1", "id: b-1", "data: "]);
      hit.response.end();
    });
    let closed = () => {};
    const closing = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const client = await connected(url);
    await expect(client.callTool("a", {}, { signal: controller.signal })).rejects.toThrow("abort");
    await closing;
    await vi.waitFor(() => expect(hits.at(-1)?.message.method).toBe("notifications/cancelled"));
  });

  test("is not resumed by a modern client: there it is over", async () => {
    const { url } = await serving((hit) => {
      if (hit.message.method === "server/discover") {
        events(hit, { id: hit.message.id, result: { supportedVersions: ["2026-07-28"], capabilities: {} } });
      } else {
        event(hit, ["retry: 1", "id: b-1", "data: "]);
      }
      hit.response.end();
    });
    const client = await connected(url, { era: "modern" });
    await expect(client.callTool("a")).rejects.toThrow("ended tools/call without an answer");
  });
});

describe("batches", () => {
  const BATCH = (hit: Hit) => [
    { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "hello" } },
    { jsonrpc: "2.0", id: hit.message.id, result: TEXT },
  ];

  test.each(["2025-03-26", "2025-06-18"])("are read in %s if it has them", async (revision) => {
    const told: unknown[] = [];
    const { url } = await serving((hit) => {
      const { method, id } = hit.message;
      if (method === "initialize") {
        const result = { protocolVersion: revision, capabilities: { tools: {} } };
        events(hit, { id, result });
        hit.response.end();
      } else if (!initialized(hit)) {
        event(hit, [`data: ${JSON.stringify(BATCH(hit))}`]);
        hit.response.end();
      }
    });
    const client = await connected(url, { onLog: ({ data }) => told.push(data) });
    if (revision === "2025-03-26") {
      expect(await client.callTool("a")).toEqual(TEXT);
      expect(told).toEqual(["hello"]);
    } else {
      await expect(client.callTool("a")).rejects.toThrow("not an array");
    }
  });
});

describe("when to come back", () => {
  test("not at all, where streams end empty each time", () => {
    vi.useFakeTimers();
    cleanups.push(async () => vi.useRealTimers());
    const host = {
      get: vi.fn((_, listener: ReplyListener) => {
        if (host.get.mock.calls.length === 3) listener.onText("", { id: "a", data: "", event: undefined });
        listener.onEnd();
        return {} as Reply;
      }),
      onText: vi.fn(),
      onRefusal: () => "over" as const,
      onBarren: vi.fn(),
    };
    new LegacyStream(host, new StreamPosition()).open();
    vi.runAllTimers();
    expect(host.get).toHaveBeenCalledTimes(8);
    expect(host.onBarren).toHaveBeenCalledOnce();
    expect(host.onText).not.toHaveBeenCalled();
  });

  test("as the server says, and later each time that it brings nothing", () => {
    const position = new StreamPosition();
    position.retryAfter(500);
    expect(position.pause()).toBe(500);
    position.failures = 3;
    expect(position.pause()).toBeGreaterThan(1_400);
    position.take({ id: "1", data: "", event: undefined });
    expect(position.pause()).toBeGreaterThan(1_400);
    position.take({ id: "2", data: "{}", event: undefined });
    expect(position.pause()).toBe(500);
  });

  test("not at once, and later each time that it brings a new id and no message", () => {
    vi.useFakeTimers();
    cleanups.push(async () => vi.useRealTimers());
    const pauses: number[] = [];
    let last = Date.now();
    const host = {
      get: (_: string | undefined, listener: ReplyListener) => {
        pauses.push(Date.now() - last);
        last = Date.now();
        listener.onRetry?.(0);
        const data = pauses.length === 4 ? "{}" : "";
        if (pauses.length < 12) {
          listener.onText(data, { id: String(pauses.length), data, event: undefined });
          listener.onEnd();
        }
        return {} as Reply;
      },
      onText: vi.fn(),
      onRefusal: () => "over" as const,
      onBarren: vi.fn(),
    };
    new LegacyStream(host, new StreamPosition()).open();
    vi.runAllTimers();
    expect(pauses).toEqual([0, 100, 200, 400, 100, 100, 200, 400, 800, 1_600, 3_200, 5_000]);
    expect(host.onText).toHaveBeenCalledOnce();
  });

  test("else after half a second at most, and after a minute at most", () => {
    const position = new StreamPosition();
    expect(position.pause()).toBeLessThanOrEqual(500);
    position.failures = 50;
    expect(position.pause()).toBeLessThanOrEqual(60_000);
    position.retryAfter(1e12);
    position.failures = 0;
    expect(position.pause()).toBe(3_600_000);
  });
});
