/** A gigabyte where a message should be, and more than there is room for: memory stays, and the limit is named. */

import { once } from "node:events";
import { connect } from "node:net";
import { PassThrough } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test } from "vitest";
import { McpServer } from "../src/index.ts";
import { type HttpServing, serveHttp } from "../src/transports/http.ts";
import { serveStdio } from "../src/transports/stdio.ts";
import { Events, HEADERS } from "./streamable.ts";
import { type Json, MODERN_META } from "./wire.ts";

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
/** What a line may hold at its default, some times over. */
const FLAT = 96 * MIB;

let serving: HttpServing | undefined;
afterEach(() => serving?.close(0));

function server(): McpServer {
  return new McpServer({ name: "s", version: "1" }).tool("ring", {}, () => "rung");
}

function memory(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test("1 GiB with no newline on stdio: memory is flat, and the next line is served", {
  timeout: 120_000,
}, async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const ended = serveStdio(server(), { input, output });
  let said = "";
  output.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const piece = Buffer.alloc(MIB, "x");
  const before = memory();
  let most = 0;
  for (let sent = 0; sent < GIB; sent += MIB) {
    if (!input.write(piece)) await once(input, "drain");
    if (sent % (128 * MIB) === 0) most = Math.max(most, memory() - before);
  }
  expect(most).toBeLessThan(FLAT);
  input.end(`\n${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" })}\n`);
  await ended;
  const [refused, answered] = said
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(refused.error.data).toEqual({ limit: "maxLineLength", value: 16 * MIB });
  expect(answered).toMatchObject({ id: 2, result: {} });
});

/** Sends a head and as much body as is taken, up to 1 GiB in chunks; gives what was answered, once all is closed. */
async function flood(port: number, head: string): Promise<{ answer: string; sent: number }> {
  const socket = connect({ port, host: "127.0.0.1" }).setEncoding("utf8");
  let answer = "";
  // Who has sent too much may be cut off in the end, but not before it could read the answer.
  socket.on("error", () => {});
  socket.on("data", (text: string) => {
    answer += text;
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(`${head}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`);
  const chunk = Buffer.concat([
    Buffer.from(`${MIB.toString(16)}\r\n`),
    Buffer.alloc(MIB, "x"),
    Buffer.from("\r\n"),
  ]);
  let sent = 0;
  for (; sent < GIB && socket.writable; sent += MIB) {
    if (!socket.write(chunk))
      await Promise.race([new Promise((taken) => socket.once("drain", taken)), closed]);
  }
  await closed;
  return { answer, sent };
}

describe("1 GiB where a body should be", () => {
  test.each([
    ["/mcp", "POST /mcp HTTP/1.1\r\nhost: localhost", 413],
    ["/messages", "POST /messages?sessionId=ID HTTP/1.1\r\nhost: localhost", 413],
    ["another Host", "POST /mcp HTTP/1.1\r\nhost: evil.example", 403],
    ["another verb", "PUT /mcp HTTP/1.1\r\nhost: localhost", 405],
  ])(
    "%s: a refusal that arrives, then the connection is closed, and memory is flat",
    async (_, head, status) => {
      serving = await serveHttp(server(), { port: 0 });
      const { port } = serving;
      const stream = new Events(await fetch(new URL("/sse", serving.url)));
      const id = (await stream.next())?.data.split("=")[1];
      const before = memory();
      const { answer } = await flood(port, head.replace("ID", String(id)));
      expect(memory() - before).toBeLessThan(FLAT);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer.toLowerCase()).toContain("connection: close");
      if (status === 413) expect(answer).toContain('"data":{"limit":"maxMessageBytes","value":4194304}');
      expect((await fetch(new URL("/healthz", serving.url))).status).toBe(200);
    },
  );
});

test("more subscriptions than maxSubscriptions: 503, until one has ended", async () => {
  serving = await serveHttp(server(), { port: 0, maxSubscriptions: 1 });
  const { url } = serving;
  const listen = (signal?: AbortSignal) =>
    fetch(url, {
      method: "POST",
      headers: { ...HEADERS, "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "subscriptions/listen",
        params: { notifications: { toolsListChanged: true }, _meta: MODERN_META },
      }),
      ...(signal && { signal }),
    });
  const leave = new AbortController();
  const first = new Events(await listen(leave.signal));
  await first.message();
  const refused = await listen();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(((await refused.json()) as Json).error.data).toEqual({ limit: "maxSubscriptions", value: 1 });
  leave.abort();
  let next = await listen();
  while (next.status === 503) next = await listen();
  expect(next.status).toBe(200);
  await next.body?.cancel();
});
