/** Streamable HTTP: each message a POST, in both eras, and each way in which a URL can be wrong. */

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import type { LogMessage, Progress } from "@patchbay/core";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Client, ConnectionError, type ConnectOptions, connect, type Target } from "../src/index.ts";
import {
  discovered,
  events,
  type Hit,
  type HttpFixture,
  httpFixture,
  initialized,
  json,
  result,
  rpcError,
  send,
} from "./fixtures/http.ts";

const TEXT = { content: [{ type: "text", text: "done" }] };
const cleanups: (() => Promise<unknown>)[] = [];

async function serving(respond: (hit: Hit) => void): Promise<HttpFixture> {
  const fixture = await httpFixture(respond);
  cleanups.push(fixture.close);
  return fixture;
}

async function connected(target: Target, options?: ConnectOptions): Promise<Client> {
  const client = await connect(target, options);
  cleanups.unshift(() => client.close());
  return client;
}

async function failure(target: Target, options?: ConnectOptions): Promise<ConnectionError> {
  const error = await connect(target, options).then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(ConnectionError);
  return error;
}

/** The hits that carried a method, or another verb than POST. */
const told = (hits: Hit[]) => hits.map(({ verb, message }) => message.method ?? verb);

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

describe("a modern server", () => {
  test("is told in headers what the body says", async () => {
    const { url, hits } = await serving((hit) => discovered(hit) || result(hit, TEXT));
    const client = await connected({ url, headers: { "X-Mine": "yes", Accept: "nothing" } });
    await client.callTool("say hello");
    await client.callTool("größe");
    expect(client).toMatchObject({ era: "modern", revision: "2026-07-28" });
    expect(hits[0]?.headers).toMatchObject({ "mcp-method": "server/discover", "x-mine": "yes" });
    expect(hits[0]?.headers).not.toHaveProperty("mcp-name");
    expect(hits[1]?.headers).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "say hello",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    });
    expect(hits[2]?.headers["mcp-name"]).toBe("=?base64?Z3LDtsOfZQ==?=");
  });

  test("may answer with a stream, which carries progress and log messages of its request", async () => {
    const { url } = await serving((hit) => {
      if (discovered(hit)) return;
      const { id } = hit.message;
      events(
        hit,
        { method: "notifications/progress", params: { progressToken: id, progress: 1 } },
        { method: "notifications/message", params: { level: "info", data: "hello" } },
        { id: 999, result: { content: [] } },
        { id, result: TEXT },
      );
      hit.response.end();
    });
    const client = await connected(url);
    const progress: Progress[] = [];
    const log: LogMessage[] = [];
    const onProgress = (value: Progress) => progress.push(value);
    const answer = await client.callTool("a", {}, { onProgress, onLog: (message) => log.push(message) });
    expect([answer, progress, log]).toEqual([TEXT, [{ progress: 1 }], [{ level: "info", data: "hello" }]]);
  });

  test("sees the response closed when its request is cancelled, and is told nothing else", async () => {
    let closed: Promise<unknown> | undefined;
    const { url, hits } = await serving((hit) => {
      if (discovered(hit)) return;
      events(hit, {
        method: "notifications/progress",
        params: { progressToken: hit.message.id, progress: 1 },
      });
      closed = once(hit.response, "close");
    });
    const client = await connected(url);
    const controller = new AbortController();
    const onProgress = () => controller.abort();
    const cancelled = client.callTool("a", {}, { signal: controller.signal, onProgress });
    await expect(cancelled).rejects.toThrow(expect.objectContaining({ name: "AbortError" }));
    await closed;
    expect(told(hits)).toEqual(["server/discover", "tools/call"]);
  });

  test("of another revision is not taken for a legacy one", async () => {
    const { url, hits } = await serving((hit) => rpcError(hit, 400, -32022, { supported: ["2027-01-01"] }));
    expect((await failure(url)).message).toContain("it speaks 2027-01-01");
    expect(told(hits)).toEqual(["server/discover"]);
  });

  test("that answers 404 with a JSON-RPC error says so of the method, not of the path", async () => {
    const { url } = await serving((hit) => discovered(hit) || rpcError(hit, 404, -32601));
    const client = await connected(url);
    await expect(client.request("x/y")).rejects.toMatchObject({ name: "ProtocolError", code: -32601 });
  });
});

describe("a legacy server", () => {
  test.each([
    ["400 with a JSON-RPC error", (hit: Hit) => rpcError(hit, 400, -32000)],
    ["400 with nothing", ({ response }: Hit) => response.writeHead(400).end()],
    [
      "404 with HTML",
      ({ response }: Hit) => response.writeHead(404, { "content-type": "text/html" }).end("<p>"),
    ],
    ["200 with a JSON-RPC error", (hit: Hit) => rpcError(hit, 200, -32601)],
    [
      "200 with an error on a stream",
      (hit: Hit) => {
        events(hit, { id: hit.message.id, error: { code: -32601, message: "Method not found" } });
        hit.response.end();
      },
    ],
  ])("is known by %s", async (_, refuse) => {
    const { url } = await serving((hit) => {
      if (hit.message.method === "server/discover") refuse(hit);
      else initialized(hit);
    });
    expect(await connected(url)).toMatchObject({
      era: "legacy",
      revision: "2025-11-25",
      server: { name: "legacy" },
    });
  });

  test("keeps its session: sent with each message, deleted at the end", async () => {
    const { url, hits } = await serving((hit) => initialized(hit, "s-1") || result(hit, TEXT));
    const client = await connected(url);
    await client.callTool("a");
    await client.close();
    const posted = hits.filter(({ verb }) => verb !== "GET");
    expect(told(posted)).toEqual([
      "server/discover",
      "initialize",
      "notifications/initialized",
      "tools/call",
      "DELETE",
    ]);
    expect(posted.map(({ headers }) => headers["mcp-session-id"])).toEqual([
      undefined,
      undefined,
      "s-1",
      "s-1",
      "s-1",
    ]);
    expect(hits[1]?.headers).not.toHaveProperty("mcp-protocol-version");
    expect(hits[3]?.headers["mcp-protocol-version"]).toBe("2025-11-25");
    expect(hits[3]?.headers).not.toHaveProperty("mcp-method");
  });

  test("that has forgotten the session is initialized once for all who wait, and asked again", async () => {
    let session = 0;
    const { url, hits } = await serving((hit) => {
      if (hit.message.method === "initialize") session++;
      if (initialized(hit, `s-${session}`)) return;
      if (hit.headers["mcp-session-id"] === "s-1") rpcError(hit, 404, -32001);
      else result(hit, TEXT);
    });
    const client = await connected(url);
    const answers = await Promise.all(["a", "b", "c"].map((name) => client.callTool(name)));
    expect(answers).toEqual([TEXT, TEXT, TEXT]);
    expect(told(hits).filter((method) => method === "initialize")).toHaveLength(2);
    expect(told(hits).filter((method) => method === "tools/call")).toHaveLength(6);
  });

  test("that will not open another session is asked again by the next call", async () => {
    let up = true;
    let forgetful = false;
    const { url } = await serving((hit) => {
      if (hit.message.method === "initialize" && !up) hit.response.writeHead(503).end();
      else if (initialized(hit, forgetful ? "s-2" : "s-1")) return;
      else if (forgetful && hit.headers["mcp-session-id"] === "s-1") hit.response.writeHead(404).end();
      else result(hit, TEXT);
    });
    const client = await connected(url);
    [forgetful, up] = [true, false];
    await expect(client.callTool("a")).rejects.toMatchObject({ status: 503 });
    up = true;
    expect(await client.callTool("a")).toEqual(TEXT);
  });

  test("that forgets each session at once is not asked for ever", async () => {
    const { url, hits } = await serving((hit) => initialized(hit, "s") || hit.response.writeHead(404).end());
    const client = await connected(url);
    await expect(client.callTool("a")).rejects.toMatchObject({ status: 404 });
    expect(told(hits).filter((method) => method === "tools/call")).toHaveLength(2);
  });

  test("is told of a cancelled request", async () => {
    const { url, hits } = await serving((hit) => {
      if (initialized(hit)) return;
      if (hit.message.method === "notifications/cancelled") hit.response.writeHead(202).end();
      else
        events(hit, {
          method: "notifications/progress",
          params: { progressToken: hit.message.id, progress: 1 },
        });
    });
    const client = await connected(url);
    const controller = new AbortController();
    const onProgress = () => controller.abort();
    await expect(client.callTool("a", {}, { signal: controller.signal, onProgress })).rejects.toThrow();
    await vi.waitFor(() =>
      expect(hits.at(-1)?.message).toMatchObject({
        method: "notifications/cancelled",
        params: { requestId: 3 },
      }),
    );
  });

  test("may ask on the stream of an answer; the reply is a POST", async () => {
    let stream: Hit | undefined;
    const replies: unknown[] = [];
    const { url } = await serving((hit) => {
      if (initialized(hit)) return;
      if (hit.message.method === "tools/call") {
        stream = hit;
        events(hit, { id: "p", method: "ping" }, { id: "s", method: "sampling/createMessage", params: {} });
        return;
      }
      hit.response.writeHead(202).end();
      if (replies.push(hit.message) === 2 && stream !== undefined) {
        send(stream.response, { id: stream.message.id, result: TEXT });
        stream.response.end();
      }
    });
    const client = await connected(url);
    expect(await client.callTool("a")).toEqual(TEXT);
    expect(replies).toContainEqual({ jsonrpc: "2.0", id: "p", result: {} });
    expect(replies).toContainEqual(
      expect.objectContaining({ id: "s", error: expect.objectContaining({ code: -32601 }) }),
    );
  });
});

describe("a URL that does not work gets an error that says how", () => {
  test.each([
    [401, "wants to know who you are; log in (auth), or give it an Authorization header"],
    [403, "you may not use it"],
    [429, "too many requests"],
    [500, "the server failed"],
    [503, "answered 503 Service Unavailable"],
  ])("status %i", async (status, message) => {
    const { url, hits } = await serving(({ response }) => response.writeHead(status).end("<html>"));
    expect(await failure(url)).toMatchObject({
      reason: "refused",
      status,
      message: expect.stringContaining(message),
    });
    expect(hits).toHaveLength(1);
  });

  test("no MCP endpoint there", async () => {
    const { url, hits } = await serving(({ response }) => response.writeHead(404).end());
    expect(await failure(url)).toMatchObject({
      status: 404,
      message: expect.stringContaining("at this path"),
    });
    expect(told(hits)).toEqual(["server/discover", "initialize", "GET"]);
  });

  test("a web page", async () => {
    const { url } = await serving(({ response }) =>
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<p>"),
    );
    expect(await failure(url)).toMatchObject({
      reason: "not-mcp",
      message: `${url} answered with text/html, not with an MCP message; is the path right?`,
    });
  });

  test("some other JSON", async () => {
    const { url } = await serving((hit) => json(hit, { hello: "world" }));
    expect(await failure(url)).toMatchObject({ reason: "not-mcp" });
  });

  test("an answer that is none", async () => {
    const { url } = await serving(({ response }) => response.writeHead(202).end());
    expect((await failure(url)).message).toContain("ended server/discover without an answer");
  });

  test("nothing listens", async () => {
    const { url, close } = await httpFixture(() => {});
    await close();
    expect(await failure(url)).toMatchObject({
      reason: "unreachable",
      message: `${url}: nothing listens there; is the server running, and the port right?`,
    });
  });

  test("no such host", async () => {
    expect((await failure("http://host.invalid/mcp")).reason).toBe("unreachable");
  });

  test("no TLS, and no HTTP", async () => {
    const { url } = await serving(({ response }) => response.end());
    expect((await failure(url.replace("http:", "https:"))).message).toContain("it does not speak TLS");
    const other = createServer((socket) => socket.on("error", () => {}).end("SSH-2.0-OpenSSH_9.2\r\n"));
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    cleanups.push(async () => other.close());
    const { port } = other.address() as AddressInfo;
    expect((await failure(`http://127.0.0.1:${port}`)).message).toContain("is not HTTP");
  });

  test("the connection is cut", async () => {
    const { url } = await serving(({ response }) => response.socket?.destroy());
    expect(await failure(url)).toMatchObject({
      reason: "closed",
      message: expect.stringContaining("closed the connection"),
    });
  });

  test("it hangs", async () => {
    const { url } = await serving(() => {});
    expect((await failure(url, { connectTimeout: 100 })).message).toContain("connectTimeout (100 ms)");
  });

  test("no URL, or not of HTTP", async () => {
    await expect(connect("weather")).rejects.toThrow('"weather" is not a URL');
    await expect(connect("ftp://a/b")).rejects.toThrow("starts with http:// or https://, not ftp:");
  });

  test("a header that cannot be one", async () => {
    const url = "http://127.0.0.1/mcp";
    await expect(connect({ url, headers: { "bad name": "x" } })).rejects.toThrow(
      '"bad name" is not a name for a header',
    );
    await expect(connect({ url, headers: { token: "s3cr3t\n" } })).rejects.toThrow(/"token"(?!.*s3cr3t)/);
  });

  test("no error shows a query or a password", async () => {
    const { url } = await serving(({ response }) => response.writeHead(500).end());
    const error = await failure(`${url.replace("//", "//user:pa55word@")}?key=s3cr3t`);
    expect(error.message).not.toMatch(/pa55word|s3cr3t/);
  });
});

describe("redirects", () => {
  test("are followed on the same origin, with the message, and remembered", async () => {
    const { url, hits } = await serving((hit) => {
      if (hit.path === "/mcp") hit.response.writeHead(307, { location: "/mcp/" }).end();
      else if (!discovered(hit)) result(hit, TEXT);
    });
    const client = await connected(url);
    expect(await client.callTool("a")).toEqual(TEXT);
    expect(hits.map(({ path }) => path)).toEqual(["/mcp", "/mcp/", "/mcp/"]);
  });

  test("are not followed to another origin, where our headers are nobody's business", async () => {
    const thief = await serving((hit) => discovered(hit));
    const { url } = await serving(({ response }) =>
      response.writeHead(307, { location: `${thief.url}?a=b` }).end(),
    );
    const error = await failure({ url, headers: { authorization: "Bearer secret" } });
    expect(error.message).toContain(`it redirects to ${thief.url}, which is not followed`);
    expect(thief.hits).toEqual([]);
  });

  test("are not followed for ever", async () => {
    const { url, hits } = await serving(({ response }) =>
      response.writeHead(307, { location: "/mcp" }).end(),
    );
    expect((await failure(url)).status).toBe(307);
    expect(hits.length).toBeLessThan(10);
  });
});

describe("what a server sends is bounded", () => {
  const endless = ({ response }: Hit, type: string, start: string) => {
    response.writeHead(200, { "content-type": type });
    response.write(start);
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(16_384)));
      response.once("drain", more);
    };
    more();
  };

  test.each([
    ["JSON", "application/json", '{"jsonrpc":"2.0","id":2,"result":"'],
    ["an event", "text/event-stream", "data: "],
  ])("%s without end", async (_, type, start) => {
    const { url } = await serving((hit) => discovered(hit) || endless(hit, type, start));
    const client = await connected(url, { maxMessageBytes: 100_000 });
    await expect(client.callTool("a")).rejects.toMatchObject({
      reason: "too-large",
      message: expect.stringContaining("maxMessageBytes allows (100000)"),
    });
  });

  test("a refusal without end", async () => {
    const { url } = await serving((hit) => {
      if (discovered(hit)) return;
      hit.response.statusCode = 500;
      const more = () => {
        while (!hit.response.destroyed && hit.response.write("x".repeat(16_384)));
        hit.response.once("drain", more);
      };
      more();
    });
    const client = await connected(url);
    await expect(client.callTool("a")).rejects.toMatchObject({ status: 500 });
  });

  test("a stream that goes on after the answer is closed", async () => {
    let closed: Promise<unknown> | undefined;
    const { url } = await serving((hit) => {
      if (discovered(hit)) return;
      events(hit, { id: hit.message.id, result: TEXT });
      closed = once(hit.response, "close");
    });
    const client = await connected(url);
    expect(await client.callTool("a")).toEqual(TEXT);
    await closed;
  });
});

test("a request in flight when the client closes is rejected, and the server sees it closed", async () => {
  let arrived!: (hit: Hit) => void;
  const arrival = new Promise<Hit>((resolve) => {
    arrived = resolve;
  });
  const { url } = await serving((hit) => discovered(hit) || arrived(hit));
  const client = await connected(url);
  const waiting = client.callTool("a");
  const { response } = await arrival;
  const closed = once(response, "close");
  const closing = client.close();
  await expect(waiting).rejects.toThrow("is closed");
  await Promise.all([closing, closed]);
  expect(await client.closed).toBeUndefined();
});

test("a failed call does not end the connection", async () => {
  let calls = 0;
  const { url } = await serving((hit) => {
    if (discovered(hit)) return;
    if (calls++ === 0) hit.response.socket?.destroy();
    else result(hit, TEXT);
  });
  const client = await connected(url);
  await expect(client.callTool("a")).rejects.toBeInstanceOf(ConnectionError);
  expect(await client.callTool("a")).toEqual(TEXT);
});
