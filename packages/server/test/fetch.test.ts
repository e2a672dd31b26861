/** The fetch face: Streamable HTTP over web objects, where they differ from a socket. */

import { META } from "@patchbay/core";
import { describe, expect, test } from "vitest";
import { every } from "../src/timers.ts";
import { serveFetch } from "../src/transports/fetch.ts";
import { Events, gist, HEADERS, scripted } from "./streamable.ts";
import { INITIALIZE, type Json, MODERN_META } from "./wire.ts";

const URL_ = "https://mcp.test/any/path?x=1";

function start(options: { maxMessageBytes?: number; maxBufferedBytes?: number; keepAlive?: number } = {}) {
  const { server, script } = scripted();
  const serving = serveFetch(server, { allowedHosts: ["mcp.test"], ...options });
  const modern = (method: string, params: Json = {}, signal?: AbortSignal) =>
    serving.fetch(
      new Request(URL_, {
        method: "POST",
        headers: {
          ...HEADERS,
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method,
          ...(params.name && { "mcp-name": params.name }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta: MODERN_META, ...params } }),
        ...(signal && { signal }),
      }),
    );
  const works = (name: string, signal?: AbortSignal) =>
    modern(
      "tools/call",
      { name: "works", arguments: { name }, _meta: { ...MODERN_META, progressToken: 1 } },
      signal,
    );
  return { server, script, serving, modern, works };
}

test("hosts have to be named, and others are refused", async () => {
  const { serving } = start();
  expect(() => serveFetch(scripted().server, {} as never)).toThrow(/allowedHosts/);
  const post = (url: string, headers = {}) =>
    serving.fetch(new Request(url, { method: "POST", headers: { ...HEADERS, ...headers }, body: "{}" }));
  expect((await post("https://evil.test/mcp")).status).toBe(403);
  expect((await post("https://mcp.test/mcp", { origin: "https://evil.test" })).status).toBe(403);
  expect((await post("https://mcp.test/mcp", { origin: "http://localhost" })).status).toBe(403);
  expect((await post("https://mcp.test/mcp")).status).toBe(400);
});

test("the verbs are those of HTTP", async () => {
  const { serving } = start();
  for (const [method, status] of [
    ["PUT", 405],
    ["GET", 400],
    ["DELETE", 400],
    ["OPTIONS", 204],
  ] as const) {
    const headers = { accept: "text/event-stream" };
    expect((await serving.fetch(new Request(URL_, { method, headers }))).status).toBe(status);
  }
});

test("a session, its stream and its end", async () => {
  const { serving, server } = start();
  const send = (method: string, body?: Json, headers = {}) =>
    serving.fetch(
      new Request(URL_, {
        method,
        headers: { ...HEADERS, ...headers },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
  const opened = await send("POST", { jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE });
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") as string };
  const events = new Events(await send("GET", undefined, session));
  expect((await events.next())?.data).toBe("");
  server.prompt("new", {}, () => "");
  expect((await events.message()).method).toBe("notifications/prompts/list_changed");
  expect((await send("DELETE", undefined, session)).status).toBe(204);
  expect(await events.rest()).toEqual([]);
  expect((await send("GET", undefined, session)).status).toBe(404);
});

describe("a body", () => {
  test("that is too large: 413, as soon as it is, whether declared or not", async () => {
    const { serving } = start({ maxMessageBytes: 100 });
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(50));
      },
    });
    const chunked = { method: "POST", headers: HEADERS, body: endless, duplex: "half" } as RequestInit;
    expect((await serving.fetch(new Request(URL_, chunked))).status).toBe(413);
    expect(pulled).toBeLessThan(10);
    const declared = { method: "POST", headers: { ...HEADERS, "content-length": "1000" }, body: "x" };
    expect((await serving.fetch(new Request(URL_, declared))).status).toBe(413);
  });

  test("that is cut anywhere, within a character too", async () => {
    const { serving } = start();
    const text = JSON.stringify({
      jsonrpc: "2.0",
      id: "é世💥",
      method: "nope",
      params: { _meta: MODERN_META },
    });
    const bytes = new TextEncoder().encode(text);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const headers = { ...HEADERS, "mcp-protocol-version": "2026-07-28", "mcp-method": "nope" };
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
    expect(((await (await serving.fetch(new Request(URL_, init))).json()) as Json).id).toBe("é世💥");
  });

  test("that fails leaves nobody waiting", async () => {
    const { serving } = start();
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error("gone"));
      },
    });
    const init = { method: "POST", headers: HEADERS, body, duplex: "half" } as RequestInit;
    expect((await serving.fetch(new Request(URL_, init))).status).toBe(400);
  });

  test("that is not there is no message", async () => {
    const { serving } = start();
    const empty = await serving.fetch(new Request(URL_, { method: "POST", headers: HEADERS }));
    expect([empty.status, ((await empty.json()) as Json).error.code]).toEqual([400, -32700]);
  });
});

describe("a client that goes away", () => {
  test("by its signal: the call is cancelled, and its stream fails", async () => {
    const { script, works } = start();
    const leaving = new AbortController();
    void script("a").tell(1);
    const events = new Events(await works("a", leaving.signal));
    expect(gist(await events.message())).toBe("progress 1");
    leaving.abort();
    await script("a").cancelled;
    await expect(events.rest()).rejects.toThrow();
  });

  test("by not reading on: the call is cancelled", async () => {
    const { script, works } = start();
    void script("a").tell(1);
    const reader = ((await works("a")).body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    await script("a").cancelled;
  });

  test("before there is a response: it gets one all the same", async () => {
    const { script, works } = start();
    const leaving = new AbortController();
    const response = works("a", leaving.signal);
    await script("a").tell("detach");
    leaving.abort();
    await script("a").cancelled;
    expect((await response).status).toBe(400);
  });
});

test("who reads slowly is served, who does not read at all is dropped", async () => {
  const { script, works } = start({ maxBufferedBytes: 1000 });
  // Each event has more than 100 bytes; never more than five wait.
  void script("slow").tell(1);
  const events = new Events(await works("slow"));
  await events.message();
  for (let step = 2; step < 50; step++) {
    await script("slow").tell(step);
    if (step % 5 === 1) for (let count = 0; count < 5; count++) await events.message();
  }
  void script("stalled").tell(1);
  const stalled = await works("stalled");
  for (let step = 2; step < 20; step++) void script("stalled").tell(step);
  await script("stalled").cancelled;
  await expect(stalled.text()).rejects.toThrow();
});

test("an idle stream gets comments", async () => {
  const { modern } = start({ keepAlive: 1 });
  const response = await modern("subscriptions/listen", { notifications: { toolsListChanged: true } });
  let text = "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    if (text.endsWith(":\n\n:\n\n")) break;
  }
});

test("closing ends subscriptions by their result, lets calls finish, and takes no more", async () => {
  const { modern, works, script, serving } = start();
  const subscription = new Events(
    await modern("subscriptions/listen", { notifications: { toolsListChanged: true } }),
  );
  await subscription.message();
  void script("a").tell(1);
  const call = new Events(await works("a"));
  await call.message();
  serving.close();
  expect(await subscription.message()).toMatchObject({
    id: 1,
    result: { _meta: { [META.subscriptionId]: 1 } },
  });
  expect(await subscription.rest()).toEqual([]);
  const refused = await works("b");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  void script("a").tell("end");
  expect(gist(await call.message())).toBe("answer 1: a done");
});

test("no timer of ours keeps a process alive", () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  const stop = every(1_000_000, () => {});
  expect(timers()).toBe(before);
  stop();
});
