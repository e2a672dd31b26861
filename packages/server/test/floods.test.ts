/** A gigabyte where a message should be, and more than there is room for: memory stays, and the limit is named. */

import { once } from "node:events";
import { PassThrough } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "vitest";
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
