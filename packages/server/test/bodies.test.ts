/** Bodies as they come and go over a real socket: whole, cut, chunked, one behind the other, long. */

import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { McpServer } from "../src/index.ts";
import { type HttpServing, serveHttp } from "../src/transports/http.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const MAX_BYTES = 1000;

const server = new McpServer({ name: "bodies", version: "1.0.0" });
server.tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => text);
for (let i = 0; i < 100; i++)
  server.tool(`tool_${i}`, { description: `Größe ${i}: ${"ü".repeat(200)}` }, () => "");

let serving: HttpServing;
beforeAll(async () => {
  serving = await serveHttp(server, { port: 0, maxMessageBytes: MAX_BYTES });
});
afterAll(() => serving.close(0));

interface Answered {
  status: number;
  message: { id?: number; result?: { content?: { text: string }[]; tools?: { description: string }[] } };
}

/** A connection that is written to piece by piece; what is read is cut into responses by their Content-Length. */
function open() {
  const socket = connect({ port: serving.port, host: "127.0.0.1", noDelay: true });
  let received = Buffer.alloc(0);
  let heard = () => {};
  socket.on("data", (data) => {
    received = Buffer.concat([received, data]);
    heard();
  });
  const next = (): Answered | undefined => {
    const headEnd = received.indexOf("\r\n\r\n");
    if (headEnd < 0) return undefined;
    const head = received.toString("latin1", 0, headEnd);
    const end = headEnd + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1]);
    if (received.length < end) return undefined;
    const message = JSON.parse(received.toString("utf8", headEnd + 4, end));
    received = received.subarray(end);
    return { status: Number(head.slice(9, 12)), message };
  };
  return {
    socket,
    write: (piece: string | Buffer) => new Promise((resolve) => socket.write(piece, resolve)),
    async answer(): Promise<Answered> {
      for (;;) {
        const answered = next();
        if (answered !== undefined) return answered;
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
    },
  };
}

function headOf(method: string, name: string | undefined, framing: string): string {
  return [
    "POST /mcp HTTP/1.1",
    `host: 127.0.0.1:${serving.port}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "mcp-protocol-version: 2026-07-28",
    `mcp-method: ${method}`,
    ...(name === undefined ? [] : [`mcp-name: ${name}`]),
    framing,
    "\r\n",
  ].join("\r\n");
}

function echo(id: number, text: string): { head: string; body: Buffer } {
  const params = { name: "echo", arguments: { text }, _meta: META };
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }));
  return { head: headOf("tools/call", "echo", `content-length: ${body.length}`), body };
}

const textOf = ({ message }: Answered) => message.result?.content?.[0]?.text;

test("a body may be cut anywhere, in the middle of a character too", async () => {
  const { socket, write, answer } = open();
  const { head, body } = echo(1, "Grüße 😀");
  for (let cut = 0; cut <= body.length; cut += 7) {
    await write(head);
    await write(body.subarray(0, cut));
    // The server has seen the first piece when it has answered another connection.
    await fetch(`http://127.0.0.1:${serving.port}/healthz`);
    await write(body.subarray(cut));
    expect(textOf(await answer())).toBe("Grüße 😀");
  }
  socket.destroy();
});

test("a body may come in chunks, without a length", async () => {
  const { socket, write, answer } = open();
  const { body } = echo(1, "in chunks");
  const chunk = (piece: Buffer) =>
    Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
  await write(headOf("tools/call", "echo", "transfer-encoding: chunked"));
  await write(
    Buffer.concat([chunk(body.subarray(0, 20)), chunk(body.subarray(20)), Buffer.from("0\r\n\r\n")]),
  );
  expect(textOf(await answer())).toBe("in chunks");
  socket.destroy();
});

test("a body in chunks that passes the limit: 413", async () => {
  const { socket, write, answer } = open();
  await write(headOf("tools/call", "echo", "transfer-encoding: chunked"));
  await write(`${(MAX_BYTES + 1).toString(16)}\r\n${" ".repeat(MAX_BYTES + 1)}\r\n`);
  expect((await answer()).status).toBe(413);
  socket.destroy();
});

test.each([
  ["content-encoding: gzip", /without a Content-Encoding/],
  ["content-type: application/json; charset=iso-8859-1", /the charset of JSON is utf-8/],
  ['content-type: application/json;charset="utf-16"', /the charset of JSON is utf-8/],
])("what is no plain UTF-8 is not read as such: 415, %s", async (header, why) => {
  const [name, value] = header.split(": ") as [string, string];
  const headers = { "content-type": "application/json", [name]: value };
  const response = await fetch(`http://127.0.0.1:${serving.port}/mcp`, {
    method: "POST",
    headers,
    body: "{}",
  });
  expect(response.status).toBe(415);
  expect(await response.text()).toMatch(why);
});

test.each([
  "Application/JSON; charset=UTF-8",
  'application/json;charset="utf8"',
  "application/json; profile=x",
  "application/json;",
])("what is plain JSON is read: %s", async (type) => {
  const response = await fetch(`http://127.0.0.1:${serving.port}/mcp`, {
    method: "POST",
    headers: { "content-type": type, "content-encoding": "identity" },
    body: "{}",
  });
  expect(response.status).toBe(400);
});

test("no body at all: 400", async () => {
  const { socket, write, answer } = open();
  await write(headOf("tools/call", "echo", "content-length: 0"));
  expect((await answer()).status).toBe(400);
  socket.destroy();
});

test("requests that come in one packet are answered in order", async () => {
  const { socket, write, answer } = open();
  const requests = [1, 2, 3].map((id) => echo(id, `number ${id}`));
  await write(Buffer.concat(requests.flatMap(({ head, body }) => [Buffer.from(head), body])));
  for (const id of [1, 2, 3]) {
    const answered = await answer();
    expect(answered.message.id).toBe(id);
    expect(textOf(answered)).toBe(`number ${id}`);
  }
  socket.destroy();
});

test("a list that is long, and not of ASCII, is whole each time", async () => {
  const { socket, write, answer } = open();
  for (const id of [1, 2]) {
    const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list", params: { _meta: META } });
    await write(headOf("tools/list", undefined, `content-length: ${body.length}`) + body);
    const { message } = await answer();
    expect(message.id).toBe(id);
    expect(message.result?.tools).toHaveLength(101);
    expect(message.result?.tools?.[100]?.description).toBe(`Größe 99: ${"ü".repeat(200)}`);
  }
  socket.destroy();
});
