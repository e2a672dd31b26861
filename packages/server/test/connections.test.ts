/** Connections that are slow, many or left open, and how a server of HTTP closes. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { META } from "@patchbay/core";
import { afterEach, describe, expect, test } from "vitest";
import { NodeExchange } from "../src/transports/http/node.ts";
import { type HttpOptions, type HttpServing, serveHttp } from "../src/transports/http.ts";
import { Events, gist, HEADERS, openSession, scripted } from "./streamable.ts";
import { type Json, MODERN_META } from "./wire.ts";

let serving: HttpServing | undefined;
afterEach(() => serving?.close(0));

async function start(options: HttpOptions = {}) {
  const { server, script } = scripted();
  serving = await serveHttp(server, { port: 0, ...options });
  const { url, port } = serving;
  const modern = (method: string, params: Json = {}, id: string | number = 1) =>
    fetch(url, {
      method: "POST",
      headers: {
        ...HEADERS,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...(params.name && { "mcp-name": params.name }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, method, params: { _meta: MODERN_META, ...params } }),
    });
  const works = (name: string) =>
    modern("tools/call", { name: "works", arguments: { name }, _meta: { ...MODERN_META, progressToken: 1 } });
  return { server, script, serving, url, port, modern, works };
}

/** Connects and sends the beginning of a request. */
async function halfOpen(port: number, text: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  await once(socket, "connect");
  socket.write(text);
  return socket;
}

/** All that a connection says until it is closed. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  await once(socket, "close");
  return text;
}

describe("slow clients", () => {
  test("500 half-open connections are closed in time, and meanwhile others are served", async () => {
    const { port, modern } = await start({ headersTimeout: 500, requestTimeout: 600 });
    const beginnings = [
      "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-le",
      "P",
      "",
      `POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"json`,
      "GET /sse HTTP/1.1\r\nhost: localh",
    ];
    const sockets = await Promise.all(
      Array.from({ length: 500 }, (_, index) => halfOpen(port, beginnings[index % 5] as string)),
    );
    const closed = Promise.all(sockets.map(untilClosed));
    expect((await modern("server/discover")).status).toBe(200);
    const said = await closed;
    for (const text of said) expect(text === "" || text.startsWith("HTTP/1.1 408")).toBe(true);
    expect((await modern("server/discover")).status).toBe(200);
  });

  test("connections beyond maxConnections are not taken, until others have ended", async () => {
    const { port } = await start({ maxConnections: 2 });
    const [one] = [await halfOpen(port, ""), await halfOpen(port, "")];
    const third = connect(port, "127.0.0.1").on("error", () => {});
    await once(third, "close");
    one.destroy();
    for (;;) {
      const socket = await halfOpen(
        port,
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
      );
      if ((await untilClosed(socket)).startsWith("HTTP/1.1 200")) break;
    }
  });

  test("a body that is far too large is refused in a way that a sending client can read", async () => {
    const { url } = await start({ maxMessageBytes: 1000 });
    for (const size of [2000, 1_000_000, 16_000_000]) {
      const response = await fetch(url, { method: "POST", headers: HEADERS, body: "x".repeat(size) });
      expect([size, response.status]).toEqual([size, 413]);
      expect(((await response.json()) as Json).error.message).toContain("maxMessageBytes");
    }
  });

  test("a reader that does not take its answer is dropped", async () => {
    const { port, server } = await start({ drainTimeout: 50 });
    server.tool("large", {}, () => "x".repeat(32 * 1024 * 1024));
    const params = { name: "large", _meta: MODERN_META };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const head = {
      ...HEADERS,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "large",
    };
    const text = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
    const dropped = new Promise((resolve) =>
      serving?.server.once("connection", (served: Socket) => served.once("close", resolve)),
    );
    const request = `POST /mcp HTTP/1.1\r\nhost: localhost\r\n${text.join("")}content-length: ${body.length}\r\n\r\n`;
    const socket = await halfOpen(port, request + body);
    socket.pause();
    await dropped;
    socket.destroy();
  });

  test("one message may be larger than what may wait", async () => {
    const { server, modern, url } = await start({ maxBufferedBytes: 1000 });
    const text = "x".repeat(8 * 1024 * 1024);
    server.tool("large", {}, async (_args, ctx) => {
      ctx.progress(1, undefined, text);
      await new Promise(setImmediate);
      return text;
    });
    const client = await openSession(url, "2025-06-18");
    const calls = [
      () => client.call(1, "large"),
      () => modern("tools/call", { name: "large", _meta: { ...MODERN_META, progressToken: 1 } }),
    ];
    for (const call of calls) {
      const events = (await (await call()).text()).trimEnd().split("\n\n");
      const { result } = JSON.parse(events.at(-1)?.split("data: ")[1] as string) as Json;
      expect(result.content[0].text).toHaveLength(text.length);
    }
  });

  test("a reader of a legacy stream that does not read is dropped; its call goes on", async () => {
    const { port, url, script } = await start({ maxBufferedBytes: 100_000 });
    const client = await openSession(url);
    const params = { name: "works", arguments: { name: "a" }, _meta: { progressToken: "x".repeat(60_000) } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const head = Object.entries({ host: "localhost", ...HEADERS, "mcp-session-id": client.id });
    const dropped = new Promise((resolve) =>
      serving?.server.once("connection", (served: Socket) => served.once("close", resolve)),
    );
    const text = head.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    const socket = await halfOpen(
      port,
      `POST /mcp HTTP/1.1\r\n${text}content-length: ${body.length}\r\n\r\n${body}`,
    );
    socket.pause();
    let over = false;
    void dropped.then(() => {
      over = true;
    });
    for (let step = 1; !over; step++) {
      await script("a").tell(step);
      await new Promise(setImmediate);
    }
    socket.destroy();
    await script("a").tell(1_000_000);
    await script("a").tell("end");
  });
});

test("who has gone is heard to have gone, even when asked for it later", async () => {
  const http = createServer().listen(0, "127.0.0.1");
  await once(http, "listening");
  const socket = await halfOpen(
    (http.address() as AddressInfo).port,
    "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n",
  );
  const [request, response] = (await once(http, "request")) as [IncomingMessage, ServerResponse];
  socket.destroy();
  await once(response, "close");
  const exchange = new NodeExchange(request, response);
  await new Promise<void>((resolve) => exchange.onOver(resolve));
  exchange.openStream();
  expect(exchange.write("x")).toBe(0);
  exchange.end();
  await new Promise((resolve) => http.close(resolve));
});

describe("a server that closes", () => {
  test("ends subscriptions by their result and streams, answers calls, and takes no more", async () => {
    const { serving: http, script, modern, works, url } = await start();
    const client = await openSession(url);
    const unasked = new Events(await client.get());
    await unasked.next();
    const subscription = new Events(
      await modern("subscriptions/listen", { notifications: { toolsListChanged: true } }, "s"),
    );
    await subscription.message();
    for (const name of ["modern", "legacy", "asks"]) void script(name).tell(1);
    const modernCall = new Events(await works("modern"));
    const legacyCall = new Events(await client.call(2, "works", { name: "legacy" }));
    const asking = new Events(await client.call(3, "works", { name: "asks" }));
    for (const call of [modernCall, legacyCall, asking]) await call.message();
    void script("asks").tell("ask");
    expect((await asking.message()).method).toBe("elicitation/create");

    const closed = http.close(60_000);
    expect(http.close()).toBe(closed);
    expect(await subscription.message()).toMatchObject({
      id: "s",
      result: { resultType: "complete", _meta: { [META.subscriptionId]: "s" } },
    });
    expect(await subscription.rest()).toEqual([]);
    expect(await unasked.rest()).toEqual([]);
    // Nobody can answer any more.
    expect((await asking.message()).result.isError).toBe(true);
    const late = modern("server/discover").then(
      ({ status }) => status,
      () => "no connection",
    );
    expect([503, "no connection"]).toContain(await late);
    for (const name of ["modern", "legacy"]) await script(name).tell("end");
    expect((await modernCall.rest()).map(gist)).toEqual(["answer 1: modern done"]);
    expect((await legacyCall.rest()).map(gist)).toEqual(["answer 2: legacy done"]);
    await closed;
    expect(http.server.listening).toBe(false);
  });

  test("cuts off what does not end, and cancels what nobody waits for", async () => {
    const { serving: http, script, works, url } = await start();
    const client = await openSession(url);
    const away = new AbortController();
    for (const name of ["modern", "legacy", "left"]) void script(name).tell(1);
    const open = [
      new Events(await works("modern")),
      new Events(await client.call(1, "works", { name: "legacy" })),
    ];
    const left = new Events(await client.call(2, "works", { name: "left" }, away.signal));
    for (const call of [...open, left]) await call.message();
    away.abort();
    await http.close(0);
    for (const name of ["modern", "legacy", "left"]) await script(name).cancelled;
    for (const call of open) await expect(call.rest()).rejects.toThrow();
  });

  test("closes at once when nothing is open, even with connections that idle", async () => {
    const { serving: http, modern } = await start();
    await (await modern("server/discover")).text();
    await http.close(60_000);
  });
});
