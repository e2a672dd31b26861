/** HTTP+SSE, the transport of 2024-11-05, at its edges. */

import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { type HttpOptions, type HttpServing, serveHttp } from "../src/transports/http.ts";
import { Events, gist, scripted } from "./streamable.ts";
import { INITIALIZE, type Json } from "./wire.ts";

let serving: HttpServing | undefined;
afterEach(() => serving?.close(0));

async function start(options: HttpOptions = {}) {
  const { server, script } = scripted();
  serving = await serveHttp(server, { port: 0, ...options });
  const { url } = serving;
  return { server, script, serving, open: () => open(new URL("/sse", url)) };
}

interface Opened {
  endpoint: URL;
  events: Events;
  post(message: Json | string, headers?: Record<string, string>): Promise<Response>;
  /** Goes away. */
  leave(): void;
}

async function open(url: URL): Promise<Opened> {
  const leaving = new AbortController();
  const response = await fetch(url, { headers: { accept: "text/event-stream" }, signal: leaving.signal });
  const events = new Events(response);
  const first = await events.next();
  expect(first?.event).toBe("endpoint");
  const endpoint = new URL(first?.data as string, url);
  return {
    endpoint,
    events,
    post: (message, headers = {}) =>
      fetch(endpoint, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof message === "string" ? message : JSON.stringify(message),
      }),
    leave: () => leaving.abort(),
  };
}

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
const initialize = (protocolVersion = "2024-11-05") => ({
  jsonrpc: "2.0",
  id: "init",
  method: "initialize",
  params: { ...INITIALIZE, protocolVersion },
});
const works = (id: string | number, name: string) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "works", arguments: { name }, _meta: { progressToken: id } },
});

test("a message is taken by 202, and answered on the stream as a message event", async () => {
  const { open: openOne } = await start();
  const { events, post } = await openOne();
  expect((await post(initialize())).status).toBe(202);
  const opened = await events.next();
  expect(opened?.event).toBe("message");
  expect(JSON.parse(opened?.data as string).result.protocolVersion).toBe("2024-11-05");
});

test("an id begins with the instance's name, for balancers", async () => {
  const { open: openOne } = await start({ instance: "a" });
  const { endpoint } = await openOne();
  expect(endpoint.href).toMatch(/sessionId=a\.[0-9a-f-]{36}$/);
});

test("two clients are never mixed, even when they use the same ids", async () => {
  const { open: openOne, script } = await start();
  const clients = [await openOne(), await openOne()] as const;
  const names = ["a", "b"] as const;
  for (const { post, events } of clients) {
    await post(initialize("2025-06-18"));
    await events.message();
  }
  await clients[0].post(works(1, "a"));
  await clients[1].post(works(1, "b"));
  for (let step = 1; step <= 3; step++) for (const name of names) await script(name).tell(step);
  for (const name of names) await script(name).tell("end");
  for (const [index, { events }] of clients.entries()) {
    const messages = [];
    for (let count = 0; count < 4; count++) messages.push(await events.message());
    const name = names[index];
    expect(messages.slice(0, 3).map(({ params }) => params.message)).toEqual([name, name, name]);
    expect(gist(messages[3] as Json)).toBe(`answer 1: ${name} done`);
  }
});

test("the server's questions are answered by POST", async () => {
  const { open: openOne, script } = await start();
  const { events, post } = await openOne();
  await post(initialize("2025-06-18"));
  await events.message();
  await post(works(1, "a"));
  void script("a").tell("ask");
  const question = await events.message();
  await post({ jsonrpc: "2.0", id: question.id, result: { action: "decline" } });
  expect((await events.message()).params.message).toBe("decline");
  void script("a").tell("end");
  expect(gist(await events.message())).toBe("answer 1: a done");
});

test("what is no message is answered on the stream, and the next is served", async () => {
  const { open: openOne } = await start();
  const { events, post } = await openOne();
  expect((await post("{nope")).status).toBe(202);
  expect((await events.message()).error.code).toBe(-32700);
  await post(PING);
  expect(await events.message()).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
});

describe("what is refused", () => {
  test("a POST without a session, for an unknown one, or for one that has ended", async () => {
    const { open: openOne, serving: http } = await start();
    const { endpoint, post, leave } = await openOne();
    const bare = new URL("/messages", http.url);
    const send = (url: URL) =>
      fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
    expect((await send(bare)).status).toBe(400);
    expect((await send(new URL("/messages?sessionId=", http.url))).status).toBe(404);
    expect((await send(new URL("/messages?sessionId=nope", http.url))).status).toBe(404);
    leave();
    while ((await post(PING)).status !== 404);
    expect((await send(endpoint)).status).toBe(404);
  });

  test("the wrong media type: 415; a body that is too large: 413, naming the limit", async () => {
    const { open: openOne } = await start({ maxMessageBytes: 1000 });
    const { post } = await openOne();
    expect((await post(PING, { "content-type": "text/plain" })).status).toBe(415);
    const large = await post({ ...PING, params: { text: "x".repeat(2000) } });
    expect([large.status, ((await large.json()) as Json).error.message]).toEqual([
      413,
      expect.stringContaining("maxMessageBytes"),
    ]);
  });

  test("the wrong verb: 405, with the one that is allowed; the wrong Accept: 406", async () => {
    const { serving: http, open: openOne } = await start();
    const sse = new URL("/sse", http.url);
    const { endpoint } = await openOne();
    for (const [url, method, allowed] of [
      [sse, "POST", "GET"],
      [sse, "DELETE", "GET"],
      [endpoint, "GET", "POST"],
    ] as const) {
      const response = await fetch(url, { method });
      expect([response.status, response.headers.get("allow")]).toEqual([405, `${allowed}, OPTIONS`]);
    }
    expect((await fetch(sse, { method: "OPTIONS" })).status).toBe(204);
    expect((await fetch(sse, { headers: { accept: "application/json" } })).status).toBe(406);
  });

  test("a foreign Host or Origin: 403, on both paths", async () => {
    const { serving: http } = await start();
    const send = (method: string, path: string, headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        const outgoing = request(
          { port: http.port, host: "127.0.0.1", method, path, headers },
          (incoming) => {
            incoming.resume();
            incoming.destroy();
            resolve(incoming.statusCode);
          },
        );
        outgoing.on("error", reject).end();
      });
    for (const headers of [
      { host: "evil.example" } as Record<string, string>,
      { origin: "https://evil.example" },
      { origin: "null" },
    ]) {
      expect(await send("GET", "/sse", headers)).toBe(403);
      expect(await send("POST", "/messages?sessionId=x", headers)).toBe(403);
    }
    expect(await send("GET", "/sse", { host: "localhost:1", accept: "text/event-stream" })).toBe(200);
  });

  test("more connections than maxSseConnections: 503, until one has ended", async () => {
    const { open: openOne, serving: http } = await start({ maxSseConnections: 1 });
    const { leave } = await openOne();
    const sse = new URL("/sse", http.url);
    const refused = await fetch(sse);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(((await refused.json()) as Json).error.data).toEqual({ limit: "maxSseConnections", value: 1 });
    leave();
    for (;;) {
      const leaving = new AbortController();
      const { status } = await fetch(sse, { signal: leaving.signal });
      leaving.abort();
      if (status === 200) break;
    }
  });
});

test("its paths can be others, or none", async () => {
  const { serving: http } = await start({ sse: { path: "/events", messagesPath: "/post" } });
  const { endpoint } = await open(new URL("/events", http.url));
  expect(endpoint.pathname).toBe("/post");
  expect((await fetch(new URL("/sse", http.url))).status).toBe(404);
  await http.close();
  const { serving: none } = await start({ sse: false });
  expect((await fetch(new URL("/sse", none.url))).status).toBe(404);
});

test("an idle stream gets comments", async () => {
  const { serving: http } = await start({ keepAlive: 5 });
  const response = await fetch(new URL("/sse", http.url));
  let text = "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    if (text.endsWith(":\n\n:\n\n")) break;
  }
});

test("who goes away has ended its session: its calls are cancelled", async () => {
  const { open: openOne, script } = await start();
  const { events, post, leave } = await openOne();
  await post(initialize());
  await events.message();
  await post(works(1, "a"));
  void script("a").tell(1);
  await events.message();
  leave();
  expect(String(await script("a").cancelled)).toContain("closed");
});

test("a server that closes answers what is in flight, then ends the stream", async () => {
  const { open: openOne, script, serving: http } = await start();
  const { events, post } = await openOne();
  const idle = await openOne();
  await post(initialize("2025-06-18"));
  await events.message();
  await post(works(1, "a"));
  await post(works(2, "b"));
  void script("b").tell("ask");
  expect((await events.message()).method).toBe("elicitation/create");
  const closed = http.close(60_000);
  expect(await idle.events.rest()).toEqual([]);
  // Nobody can answer any more.
  expect((await events.message()).result.isError).toBe(true);
  void script("a").tell("end");
  expect((await events.rest()).map(gist)).toEqual(["answer 1: a done"]);
  await closed;
});
