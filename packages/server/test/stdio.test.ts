/** stdio and memory at their edges: one bad line never costs the next. */

import { PassThrough, Writable } from "node:stream";
import { channelPair } from "@patchbay/core";
import { describe, expect, test } from "vitest";
import { McpServer } from "../src/index.ts";
import { serveChannel } from "../src/transports/channel.ts";
import { serveStdio } from "../src/transports/stdio.ts";
import { INITIALIZE, type Json, MODERN_META } from "./wire.ts";

const server = new McpServer({ name: "stdio", version: "1" })
  .tool("echo", { input: { type: "object", properties: { text: { type: "string" } } } }, ({ text }) =>
    String(text),
  )
  .tool("later", {}, async () => {
    await new Promise(setImmediate);
    return "later";
  })
  .tool(
    "hangs",
    {},
    (_args, ctx) => new Promise<string>((resolve) => ctx.signal.addEventListener("abort", () => resolve(""))),
  );

/** Writes raw text to a served pair of pipes, and reads messages back. */
function open(options: { maxLineLength?: number; graceMs?: number } = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const ended = serveStdio(server, { input, output, ...options });
  const received: Json[] = [];
  const waiting: (() => void)[] = [];
  let rest = "";
  output.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() as string;
    received.push(...lines.map((line) => JSON.parse(line)));
    for (const resolve of waiting.splice(0)) resolve();
  });
  return {
    input,
    ended,
    received,
    write: (text: string) => input.write(text),
    async take(count: number): Promise<Json[]> {
      while (received.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return received.splice(0, count);
    },
  };
}

const call = (id: number, name: string, args = {}) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, _meta: MODERN_META } })}\n`;

describe("a line that is no message", () => {
  test.each([
    ["not JSON", "{nope", -32700, undefined],
    ["a number", "5", -32600, undefined],
    ["an array", "[1]", -32600, undefined],
    ["no method", '{"jsonrpc":"2.0","id":3}', -32600, 3],
    [
      "an unknown method",
      `{"jsonrpc":"2.0","id":3,"method":"x","params":{"_meta":${JSON.stringify(MODERN_META)}}}`,
      -32601,
      3,
    ],
    ["no session and no version", '{"jsonrpc":"2.0","id":3,"method":"tools/list"}', -32602, 3],
    ["a binary line", "\u0000\u0001\ufffd", -32700, undefined],
  ])("%s is answered, and the next line served", async (_name, line, code, id) => {
    const peer = open();
    peer.write(`${line}\n${call(9, "echo", { text: "next" })}`);
    const [bad, next] = (await peer.take(2)) as [Json, Json];
    expect([bad.error.code, bad.id]).toEqual([code, id]);
    expect(next.result.content[0].text).toBe("next");
    peer.input.end();
    await peer.ended;
  });

  test("empty lines and carriage returns are passed over", async () => {
    const peer = open();
    peer.write(`\r\n\n${call(1, "echo", { text: "hi" }).replace("\n", "\r\n")}`);
    expect((await peer.take(1))[0]?.result.content[0].text).toBe("hi");
    peer.input.end();
    await peer.ended;
  });

  test("responses and unknown notifications are passed over", async () => {
    const peer = open();
    peer.write('{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","method":"notifications/unknown"}\n');
    peer.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}\n');
    peer.write(call(2, "echo", { text: "hi" }));
    expect((await peer.take(1))[0]?.id).toBe(2);
    peer.input.end();
    await peer.ended;
  });

  test("a line that is too long is answered by the limit's name, and the next served", async () => {
    const peer = open({ maxLineLength: 1000 });
    peer.write("x".repeat(5000));
    peer.write("x".repeat(5000));
    peer.write(`\n${call(1, "echo", { text: "next" })}`);
    const [bad, next] = (await peer.take(2)) as [Json, Json];
    expect(bad.error).toMatchObject({ code: -32600, data: { limit: "maxLineLength", value: 1000 } });
    expect(next.id).toBe(1);
    peer.input.end();
    await peer.ended;
  });
});

test("a message cut anywhere is one message", async () => {
  const line = Buffer.from(call(1, "echo", { text: "ü€𝄞" }));
  for (let cut = 1; cut < line.length; cut++) {
    const peer = open();
    peer.input.write(line.subarray(0, cut));
    peer.input.write(line.subarray(cut));
    expect((await peer.take(1))[0]?.result.content[0].text).toBe("ü€𝄞");
    peer.input.end();
    await peer.ended;
  }
});

test("requests that came before the end of the input are answered", async () => {
  const peer = open();
  peer.input.end(call(1, "later") + call(2, "echo", { text: "b" }));
  const answers = await peer.take(2);
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2]);
  await peer.ended;
});

test("a request that never ends does not keep the server after its client", async () => {
  const peer = open({ graceMs: 1 });
  peer.input.end(call(1, "hangs"));
  await peer.ended;
  expect(peer.received).toEqual([]);
});

test("both eras can be spoken on one connection", async () => {
  const peer = open();
  peer.write(call(1, "echo", { text: "modern" }));
  peer.write(`${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "initialize", params: INITIALIZE })}\n`);
  peer.write(
    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"legacy"}}}\n',
  );
  peer.write(`${JSON.stringify({ jsonrpc: "2.0", id: 4, method: "initialize", params: INITIALIZE })}\n`);
  const answers = await peer.take(4);
  const by = (id: number) => answers.find((answer) => answer.id === id) as Json;
  expect(by(1).result.resultType).toBe("complete");
  expect(by(2).result.protocolVersion).toBe("2025-11-25");
  expect(by(3).result).toEqual({ content: [{ type: "text", text: "legacy" }] });
  expect(by(4).error.code).toBe(-32600);
  peer.input.end();
  await peer.ended;
});

test("an id in flight is not taken twice, and what is in flight is capped", async () => {
  const [client, served] = channelPair();
  serveChannel(server, served, { maxInFlight: 2 });
  const received: Json[] = [];
  let wake = () => {};
  client.listen(
    (text) => {
      received.push(JSON.parse(text));
      wake();
    },
    () => {},
  );
  for (const id of [1, 1, 2, 3]) client.send(call(id, "hangs").trim());
  while (received.length < 2) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  expect(received.map(({ id, error }) => [id, error.code])).toEqual([
    [1, -32600],
    [3, -32600],
  ]);
  expect(received[1]?.error.data).toEqual({ limit: "maxInFlight", value: 2 });
  await client.close();
});

test("a client that does not read what it is sent is given up, and its calls end", async () => {
  const input = new PassThrough();
  // Takes one write, and no more.
  const output = new Writable({ write() {}, highWaterMark: 1 });
  const flooded = new Promise<void>((resolve) => {
    const floods = new McpServer({ name: "floods", version: "1" }).tool("floods", {}, async (_args, ctx) => {
      while (!ctx.signal.aborted) {
        ctx.log("info", "x".repeat(1000));
        await new Promise(setImmediate);
      }
      resolve();
      return "";
    });
    void serveStdio(floods, { input, output, maxBufferedBytes: 10_000 });
  });
  const messages = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE },
    { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "floods" } },
  ];
  input.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  await flooded;
});

test("an input that is destroyed without an end is an end", async () => {
  const input = new PassThrough();
  const served = serveStdio(server, { input, output: new PassThrough() });
  input.destroy();
  await served;
});
