/** Streamable HTTP at its edges: what is refused, how, and that the next request is served. */

import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { McpServer } from "../src/index.ts";
import { type HttpServing, memorySessions, serveHttp } from "../src/transports/http.ts";
import { INITIALIZE, type Json, MODERN_META } from "./wire.ts";

const server = new McpServer({ name: "http", version: "1" })
  .tool("echo", { input: { type: "object", properties: { text: { type: "string" } } } }, ({ text }) =>
    String(text),
  )
  .tool("ünï", {}, () => "named")
  .tool("floods", {}, async (_args, ctx) => {
    for (let step = 1; !ctx.signal.aborted; step++) {
      ctx.progress(step, undefined, "x".repeat(65_536));
      await new Promise(setImmediate);
    }
    return "stopped";
  })
  .resource("test://a", { name: "a" }, () => "A");

let serving: HttpServing;
beforeAll(async () => {
  serving = await serveHttp(server, { port: 0, maxMessageBytes: 10_000, maxBufferedBytes: 100_000 });
});
afterAll(() => serving.close());

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Json;
}

/** By `node:http`, which lets a test send any Host and any header. */
function send(
  body: string | object,
  headers: Record<string, string | undefined> = {},
  method = "POST",
  path = "/mcp",
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const set = Object.entries({ ...HEADERS, ...headers }).filter(([, value]) => value !== undefined);
    const outgoing = httpRequest(
      {
        port: serving.port,
        host: "127.0.0.1",
        method,
        path,
        headers: Object.fromEntries(set) as Record<string, string>,
      },
      (incoming) => {
        let text = "";
        incoming.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        incoming.on("end", () => {
          const type = incoming.headers["content-type"] ?? "";
          const parsed = type.startsWith("application/json") && text !== "" ? JSON.parse(text) : { text };
          resolve({ status: incoming.statusCode as number, headers: incoming.headers, body: parsed });
        });
      },
    );
    outgoing.on("error", reject);
    if (method !== "POST") outgoing.end();
    else outgoing.end(typeof body === "string" ? body : JSON.stringify(body));
  });
}

const modern = (method: string, params: Json = {}) => ({
  jsonrpc: "2.0",
  id: 7,
  method,
  params: { ...params, _meta: MODERN_META },
});
const mirror = (method: string, name?: string) => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": method,
  "mcp-name": name,
});

async function session(): Promise<string> {
  const { headers } = await send({ jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE });
  return headers["mcp-session-id"] as string;
}

describe("a request that is not one", () => {
  test.each([
    ["not JSON", "{nope", -32700, undefined],
    ["nothing", "", -32700, undefined],
    ["half a message", '{"jsonrpc":"2.0","id":1,', -32700, undefined],
    ["an array", "[]", -32600, undefined],
    ["a string", '"hi"', -32600, undefined],
    ["no jsonrpc", '{"id":1,"method":"ping"}', -32600, 1],
    ["an old jsonrpc", '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1],
    ["no method", '{"jsonrpc":"2.0","id":1}', -32600, 1],
    ["a method that is a number", '{"jsonrpc":"2.0","id":1,"method":5}', -32600, 1],
    ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, undefined],
    ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, undefined],
    ["an id that is a fraction", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, undefined],
    ["params that are an array", '{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}', -32602, "a"],
    ["nesting without end", "[".repeat(5000), -32700, undefined],
    [
      "nesting past the limit",
      `{"jsonrpc":"2.0","id":1,"method":"x","params":${'{"a":'.repeat(80)}1${"}".repeat(80)}}`,
      -32600,
      undefined,
    ],
  ])("%s", async (_name, body, code, id) => {
    const reply = await send(body);
    expect(reply.status).toBe(400);
    expect(reply.body.error.code).toBe(code);
    expect(reply.body.id).toBe(id);
    expect(reply.body.jsonrpc).toBe("2.0");
  });
});

describe("the wrong HTTP", () => {
  test("media type: 415", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", undefined]) {
      expect((await send(modern("server/discover"), { "content-type": type })).status).toBe(415);
    }
    const charset = await send(modern("server/discover"), {
      "content-type": "application/json; charset=utf-8",
      ...mirror("server/discover"),
    });
    expect(charset.status).toBe(200);
  });

  test("Accept: 406", async () => {
    for (const accept of ["text/html", "application/json", "text/event-stream"]) {
      expect((await send(modern("server/discover"), { accept })).status).toBe(406);
    }
    for (const accept of ["*/*", "text/event-stream;q=0.9, application/json", "application/*, text/*"]) {
      expect((await send(modern("server/discover"), { accept, ...mirror("server/discover") })).status).toBe(
        200,
      );
    }
  });

  test("a body that is too large: 413, naming the limit", async () => {
    const body = JSON.stringify(
      modern("tools/call", { name: "echo", arguments: { text: "x".repeat(20_000) } }),
    );
    const declared = await send(body);
    expect(declared.status).toBe(413);
    expect(declared.body.error.message).toContain("maxMessageBytes");
    expect(declared.body.error.data).toEqual({ limit: "maxMessageBytes", value: 10_000 });
    const chunked = await send(body, { "transfer-encoding": "chunked" });
    expect(chunked.status).toBe(413);
  });

  test("verb: 405, with what is allowed", async () => {
    for (const method of ["PUT", "PATCH", "HEAD"]) {
      const reply = await send("", {}, method);
      expect(reply.status).toBe(405);
      expect(reply.headers.allow).toContain("POST");
    }
    // 2026-07-28 has neither.
    for (const method of ["GET", "DELETE"]) {
      expect((await send("", { "mcp-protocol-version": "2026-07-28" }, method)).status).toBe(405);
    }
  });

  test("path: 404, and /healthz: 200", async () => {
    expect((await send("", {}, "GET", "/elsewhere")).status).toBe(404);
    expect((await send("", {}, "GET", "/mcpx")).status).toBe(404);
    expect((await send("", {}, "GET", "/healthz")).status).toBe(200);
  });

  test("Host: 403", async () => {
    for (const host of [
      "evil.example",
      "localhost.evil.example",
      "127.0.0.1.evil.example:80",
      "169.254.169.254",
      "[::2]",
    ]) {
      for (const method of ["POST", "DELETE", "GET", "OPTIONS"]) {
        expect((await send(modern("server/discover"), { host }, method)).status).toBe(403);
      }
    }
    for (const host of ["localhost", "LOCALHOST:3000", "127.0.0.1:9", "[::1]:80"]) {
      expect((await send(modern("server/discover"), { host, ...mirror("server/discover") })).status).toBe(
        200,
      );
    }
  });

  test("Host and Origin cannot be mistaken for each other, and every path asks for them", async () => {
    const open = await serveHttp(server, {
      port: 0,
      allowedHosts: ["*"],
      allowedOrigins: ["https://good.example"],
    });
    const ask = (headers: Record<string, string>, path = "/nowhere") =>
      new Promise<number>((resolve) => {
        httpRequest({ port: open.port, host: "127.0.0.1", path, headers, setHost: false }, (incoming) => {
          incoming.resume();
          resolve(incoming.statusCode as number);
        }).end();
      });
    expect(await ask({ host: "victim.example https://evil.example" })).toBe(403);
    expect(await ask({ host: "victim.example", origin: "https://evil.example" })).toBe(403);
    expect(await ask({ host: "victim.example", origin: "https://good.example" })).toBe(404);
    await open.close();
    for (const path of ["/nowhere", "/healthz/x", "/sse", "/messages"]) {
      expect((await send("", { host: "evil.example" }, "GET", path)).status).toBe(403);
    }
  });

  test("health is told to probes by whatever Host, and nothing else", async () => {
    const elsewhere = { host: "10.1.2.3:3000", origin: "https://evil.example" };
    for (const [path, text] of [
      ["/healthz", "ok\n"],
      ["/readyz?verbose", "ready\n"],
    ] as const) {
      const told = await send("", elsewhere, "GET", path);
      expect([told.status, told.body.text]).toEqual([200, text]);
      expect(Object.keys(told.headers).join()).not.toMatch(/access-control/);
      const head = await send("", elsewhere, "HEAD", path);
      expect([head.status, head.body.text]).toEqual([200, ""]);
      const posted = await send("", elsewhere, "POST", path);
      expect([posted.status, posted.headers.allow]).toEqual([405, "GET, HEAD"]);
    }
    // What is older than the Host header, such as a plain check of HAProxy.
    const socket = connect(serving.port, "127.0.0.1").setEncoding("utf8");
    let said = "";
    socket.on("data", (text: string) => {
      said += text;
    });
    socket.write("OPTIONS /healthz HTTP/1.0\r\n\r\n");
    await new Promise((resolve) => socket.once("close", resolve));
    expect(said).toMatch(/^HTTP\/1.1 405 /);
  });

  test("more modern requests than may be answered at once: 503", async () => {
    const small = await serveHttp(server, { port: 0, maxRequests: 0 });
    const response = await fetch(small.url, {
      method: "POST",
      headers: { ...HEADERS, ...(mirror("tools/list") as Record<string, string>), "mcp-name": "" },
      body: JSON.stringify(modern("tools/list")),
    });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(((await response.json()) as Json).error.data).toEqual({ limit: "maxRequests", value: 0 });
    await small.close();
  });

  test("Origin: 403, and a page of loopback may read the answer", async () => {
    for (const origin of [
      "https://evil.example",
      "null",
      "http://localhost.evil.example",
      "file://",
      "http://127.0.0.1@evil.example",
    ]) {
      expect((await send(modern("server/discover"), { origin })).status).toBe(403);
    }
    const page = await send(modern("server/discover"), {
      origin: "http://localhost:6274",
      ...mirror("server/discover"),
    });
    expect(page.status).toBe(200);
    expect(page.headers["access-control-allow-origin"]).toBe("http://localhost:6274");
    expect((await send("", { origin: "http://localhost:6274" }, "OPTIONS")).status).toBe(204);
  });

  test("an address that others can reach needs its hosts named", async () => {
    await expect(serveHttp(server, { port: 0, host: "0.0.0.0" })).rejects.toThrow(/allowedHosts/);
    const open = await serveHttp(server, { port: 0, host: "0.0.0.0", allowedHosts: ["mcp.example.com"] });
    await open.close();
  });

  test("bytes that are not HTTP do not stop the server", async () => {
    const socket = connect(serving.port, "127.0.0.1").resume();
    socket.write("\x16\x03\x01 hello\r\n\r\n");
    await new Promise((resolve) => socket.once("close", resolve));
    expect((await send(modern("server/discover"), mirror("server/discover"))).status).toBe(200);
  });
});

describe("2026-07-28", () => {
  test("headers have to say what the body says: -32020", async () => {
    const message = modern("tools/call", { name: "echo", arguments: { text: "hi" } });
    const right = mirror("tools/call", "echo");
    expect((await send(message, right)).status).toBe(200);
    for (const wrong of [
      { "mcp-protocol-version": undefined },
      { "mcp-protocol-version": "2025-11-25" },
      { "mcp-method": undefined },
      { "mcp-method": "tools/list" },
      { "mcp-method": "Tools/Call" },
      { "mcp-name": undefined },
      { "mcp-name": "other" },
      { "mcp-name": "=?base64?b3RoZXI=?=" },
      { "mcp-name": "=?base64?not base64?=" },
    ]) {
      const reply = await send(message, { ...right, ...wrong });
      expect([reply.status, reply.body.error?.code, reply.body.id], JSON.stringify(wrong)).toEqual([
        400, -32020, 7,
      ]);
    }
    expect(
      (await send(modern("resources/read", { uri: "test://a" }), mirror("resources/read", "test://b")))
        .status,
    ).toBe(400);
  });

  test("a name that a header cannot hold comes encoded", async () => {
    const encoded = `=?base64?${Buffer.from("ünï").toString("base64")}?=`;
    const reply = await send(modern("tools/call", { name: "ünï" }), mirror("tools/call", encoded));
    expect(reply.body.result.content[0].text).toBe("named");
  });

  test("a request that lacks what it must say: -32602", async () => {
    for (const field of [
      "io.modelcontextprotocol/protocolVersion",
      "io.modelcontextprotocol/clientCapabilities",
    ]) {
      const message = modern("server/discover");
      message.params._meta = { ...MODERN_META, [field]: undefined };
      const reply = await send(message, mirror("server/discover"));
      expect([reply.status, reply.body.error.code]).toEqual([400, -32602]);
      expect(reply.body.error.message).toContain(field);
    }
    const bare = await send({ jsonrpc: "2.0", id: 1, method: "server/discover" }, mirror("server/discover"));
    expect([bare.status, bare.body.error.code]).toEqual([400, -32602]);
  });

  test("a version that is not spoken: -32022, with those that are", async () => {
    for (const version of ["1900-01-01", "2030-01-01", "2025-11-25", "nonsense"]) {
      const message = modern("server/discover");
      message.params._meta = { ...MODERN_META, "io.modelcontextprotocol/protocolVersion": version };
      const reply = await send(message, { ...mirror("server/discover"), "mcp-protocol-version": version });
      expect([reply.status, reply.body.error.code]).toEqual([400, -32022]);
      expect(reply.body.error.data).toEqual({ supported: ["2026-07-28"], requested: version });
    }
  });

  test("an unknown method is a 404 that says which", async () => {
    for (const method of ["nope", "ping", "initialize", "logging/setLevel"]) {
      const reply = await send(modern(method), mirror(method));
      expect([reply.status, reply.body.error.code]).toEqual([404, -32601]);
    }
  });

  test("a notification is taken: 202", async () => {
    const reply = await send(
      { jsonrpc: "2.0", method: "notifications/whatever" },
      { "mcp-protocol-version": "2026-07-28" },
    );
    expect(reply.status).toBe(202);
  });

  test("one client's answer never reaches another that uses the same id", async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `mine ${index}`);
    const replies = await Promise.all(
      texts.map((text) =>
        send(modern("tools/call", { name: "echo", arguments: { text } }), mirror("tools/call", "echo")),
      ),
    );
    expect(replies.map(({ body }) => body.result.content[0].text)).toEqual(texts);
  });

  test("a reader that does not read is dropped, and its call ends", async () => {
    const body = JSON.stringify({
      ...modern("tools/call", { name: "floods" }),
      params: { name: "floods", _meta: { ...MODERN_META, progressToken: 1 } },
    });
    const fields = Object.entries({
      host: "127.0.0.1",
      ...HEADERS,
      ...mirror("tools/call", "floods"),
      "content-length": `${Buffer.byteLength(body)}`,
    });
    const dropped = new Promise<void>((resolve) =>
      serving.server.once("connection", (served) => served.once("close", () => resolve())),
    );
    const socket = connect(serving.port, "127.0.0.1");
    socket.pause();
    const head = fields.map(([key, value]) => `${key}: ${value}\r\n`).join("");
    socket.write(`POST /mcp HTTP/1.1\r\n${head}\r\n${body}`);
    await dropped;
    socket.destroy();
  });
});

describe("2025-11-25", () => {
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

  test("a session is needed, known, and ended by DELETE", async () => {
    expect((await send(ping)).status).toBe(400);
    expect((await send(ping, { "mcp-session-id": "unknown" })).status).toBe(404);
    const id = await session();
    expect(id).toMatch(/^[\x21-\x7e]+$/);
    expect((await send(ping, { "mcp-session-id": id })).body).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect((await send("", { "mcp-session-id": id }, "DELETE")).status).toBe(204);
    expect((await send(ping, { "mcp-session-id": id })).status).toBe(404);
    expect((await send("", { "mcp-session-id": id }, "DELETE")).status).toBe(404);
  });

  test("a version that was not agreed on is refused: 400", async () => {
    const id = await session();
    expect((await send(ping, { "mcp-session-id": id, "mcp-protocol-version": "1999-01-01" })).status).toBe(
      400,
    );
    expect((await send(ping, { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" })).status).toBe(
      200,
    );
  });

  test("a client that asks for another version is offered ours", async () => {
    const { body } = await send({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { ...INITIALIZE, protocolVersion: "1999-01-01" },
    });
    expect(body.result.protocolVersion).toBe("2025-11-25");
    for (const missing of ["protocolVersion", "capabilities", "clientInfo"]) {
      const reply = await send({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { ...INITIALIZE, [missing]: undefined },
      });
      expect(reply.body.error).toMatchObject({ code: -32602, message: expect.stringContaining(missing) });
    }
  });

  test("a log level belongs to its session", async () => {
    const [one, other] = [await session(), await session()];
    await send(
      { jsonrpc: "2.0", id: 1, method: "logging/setLevel", params: { level: "debug" } },
      { "mcp-session-id": one },
    );
    expect(one).not.toBe(other);
  });

  test("sessions are capped: 503, naming the limit", async () => {
    const small = await serveHttp(server, { port: 0, sessions: memorySessions({ maxSessions: 1 }) });
    const init = () =>
      fetch(small.url, {
        method: "POST",
        headers: HEADERS,
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE }),
      });
    expect((await init()).status).toBe(200);
    const refused = await init();
    expect(refused.status).toBe(503);
    expect(((await refused.json()) as Json).error.data).toMatchObject({ limit: "maxSessions", value: 1 });
    await small.close();
  });

  test("idle sessions make room", async () => {
    const store = memorySessions({ maxSessions: 1, idleMs: 0 });
    const record = {
      revision: "2025-11-25",
      client: { info: undefined, capabilities: {} },
      logLevel: "info",
      watched: [],
    } as const;
    const first = (await store.create(record)) as string;
    expect(await store.create(record)).toBeTypeOf("string");
    expect(await store.get(first)).toBeUndefined();
  });

  test("without sessions every request stands alone", async () => {
    const stateless = await serveHttp(server, { port: 0, sessions: "stateless" });
    const post = (body: object) =>
      fetch(stateless.url, { method: "POST", headers: HEADERS, body: JSON.stringify(body) });
    const opened = await post({ jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE });
    expect(opened.headers.get("mcp-session-id")).toBeNull();
    expect(await (await post({ jsonrpc: "2.0", id: 2, method: "tools/list" })).json()).toMatchObject({
      id: 2,
      result: { tools: [{}, {}, {}] },
    });
    await stateless.close();
  });
});
