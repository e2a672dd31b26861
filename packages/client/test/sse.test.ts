/** HTTP+SSE, and how a URL alone tells which of the three transports it is. */

import { afterEach, expect, test, vi } from "vitest";
import { type Client, ConnectionError, type ConnectOptions, connect } from "../src/index.ts";
import {
  discovered,
  events,
  type Hit,
  type HttpFixture,
  httpFixture,
  initialized,
  result,
} from "./fixtures/http.ts";

const TEXT = { content: [{ type: "text", text: "done" }] };
const cleanups: (() => Promise<unknown>)[] = [];

async function serving(respond: (hit: Hit) => void): Promise<HttpFixture> {
  const fixture = await httpFixture(respond);
  cleanups.push(fixture.close);
  return fixture;
}

async function connected(url: string, options?: ConnectOptions): Promise<Client> {
  const client = await connect(url, options);
  cleanups.unshift(() => client.close());
  return client;
}

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A server of 2024-11-05 at /mcp, which takes messages at /messages. */
function oldServer(
  refuse = ({ response }: Hit) => void response.writeHead(405).end("<p>"),
  endpoint = "/messages?s=1",
) {
  let stream: Hit | undefined;
  return (hit: Hit) => {
    const { method, id } = hit.message;
    if (hit.path === "/mcp" && hit.verb === "GET") {
      stream = hit;
      hit.response.writeHead(200, { "content-type": "text/event-stream" });
      hit.response.write(`event: endpoint\ndata: ${endpoint}\n\n`);
    } else if (hit.path === "/mcp") {
      refuse(hit);
    } else {
      hit.response.writeHead(202, { "content-type": "text/plain" }).end("Accepted");
      const say = (message: object) =>
        stream?.response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
      if (method === "initialize")
        say({ id, result: { protocolVersion: "2024-11-05", capabilities: { tools: {} } } });
      else if (method === "tools/call") {
        say({ id: "p", method: "ping" });
        say({ id, result: TEXT });
      }
    }
  };
}

const told = (hits: Hit[]) =>
  hits.map(({ verb, path, message }) => `${verb} ${path} ${message.method ?? ""}`.trim());

test.each([404, 405, 400])("a server that answers POST by %i is asked for its stream", async (status) => {
  const { url, hits } = await serving(
    oldServer(({ response }) => void response.writeHead(status).end("<p>")),
  );
  const client = await connected(url);
  expect(client).toMatchObject({ era: "legacy", revision: "2024-11-05" });
  expect(await client.callTool("a")).toEqual(TEXT);
  expect(told(hits).slice(0, 6)).toEqual([
    "POST /mcp server/discover",
    "POST /mcp initialize",
    "GET /mcp",
    "POST /messages?s=1 initialize",
    "POST /messages?s=1 notifications/initialized",
    "POST /messages?s=1 tools/call",
  ]);
  await vi.waitFor(() => expect(hits[6]?.message).toEqual({ jsonrpc: "2.0", id: "p", result: {} }));
  expect(hits[2]?.headers.accept).toBe("text/event-stream");
});

test("what a URL was found to speak is remembered, and looked for again when it does not hold", async () => {
  let respond = oldServer();
  const { url, hits } = await serving((hit) => respond(hit));
  await connected(url);
  const before = hits.length;
  await connected(url);
  expect(told(hits).slice(before)).toEqual([
    "GET /mcp",
    "POST /messages?s=1 initialize",
    "POST /messages?s=1 notifications/initialized",
  ]);
  respond = (hit) => initialized(hit) || result(hit, TEXT);
  expect((await connected(url)).revision).toBe("2025-11-25");
  const again = hits.length;
  expect((await connected(url)).revision).toBe("2025-11-25");
  expect(told(hits).slice(again)).toContain("POST /mcp initialize");
  expect(told(hits).slice(again)).not.toContain("POST /mcp server/discover");
  respond = (hit) => {
    if (hit.message.method === "initialize") hit.response.writeHead(400).end();
    else discovered(hit);
  };
  expect((await connected(url)).era).toBe("modern");
});

test.each(["http://127.0.0.1:1/messages", "//evil.example/messages", "file:///etc/passwd"])(
  "messages are not sent to another origin (%s)",
  async (endpoint) => {
    const { url } = await serving(oldServer(undefined, endpoint));
    // What was said first says more: there is no MCP endpoint for us here.
    await expect(connect(url)).rejects.toThrow(ConnectionError);
  },
);

test("an endpoint is resolved against the URL, and may be absolute", async () => {
  const fixture = await serving((hit) => respond(hit));
  const respond = oldServer(undefined, `${fixture.origin}/elsewhere/messages`);
  expect(await (await connected(fixture.url)).callTool("a")).toEqual(TEXT);
  expect(fixture.hits.at(-1)?.path).toBe("/elsewhere/messages");
});

test("a stream that begins with something else, or with nothing, is not HTTP+SSE", async () => {
  const other = await serving((hit) => {
    if (hit.verb === "GET") events(hit, { method: "notifications/message", params: {} });
    else hit.response.writeHead(404).end();
  });
  await expect(connect(other.url)).rejects.toMatchObject({ status: 404 });
  const silent = await serving((hit) => {
    if (hit.verb === "GET") events(hit);
    else hit.response.writeHead(404).end();
  });
  await expect(connect(silent.url, { probeTimeout: 20 })).rejects.toMatchObject({ status: 404 });
});

test("the end of the stream is the end of the connection; a message that is refused fails alone", async () => {
  const respond = oldServer();
  let stream: Hit | undefined;
  const { url } = await serving((hit) => {
    if (hit.verb === "GET") stream = hit;
    const { method, params } = hit.message;
    if (hit.path !== "/mcp" && method === "tools/call" && JSON.stringify(params).includes("refused")) {
      return hit.response.writeHead(503).end();
    }
    respond(hit);
  });
  const client = await connected(url, { maxRestarts: 0 });
  await expect(client.callTool("refused")).rejects.toMatchObject({ status: 503 });
  expect(await client.callTool("a")).toEqual(TEXT);
  stream?.response.end();
  expect(await client.closed).toMatchObject({
    reason: "closed",
    message: expect.stringContaining("closed its stream"),
  });
  await expect(client.callTool("a")).rejects.toThrow("closed its stream of events");
});

test("a modern refusal is not taken for HTTP+SSE", async () => {
  const { url, hits } = await serving(({ response, message }) =>
    response.writeHead(400, { "content-type": "application/json" }).end(
      JSON.stringify({
        jsonrpc: "2.0",
        id: message.id,
        error: { code: -32021, message: "You lack sampling" },
      }),
    ),
  );
  await expect(connect(url)).rejects.toThrow("You lack sampling");
  expect(told(hits)).toEqual(["POST /mcp server/discover"]);
});
