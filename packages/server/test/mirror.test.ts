/** Tool parameters that headers repeat (2026-07-28, streamable-http § Custom Headers from Tool Parameters). */

import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { McpServer } from "../src/index.ts";
import { type Mounted, mount } from "./streamable.ts";
import { type Json, MODERN_META } from "./wire.ts";

const server = new McpServer({ name: "mirror", version: "1" }).tool(
  "query",
  {
    input: {
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        limit: { type: "integer", "x-mcp-header": "Limit" },
        dry: { type: "boolean", "x-mcp-header": "Dry-Run" },
        free: { type: "string" },
        where: {
          type: "object",
          properties: {
            tenant: {
              type: "object",
              properties: { id: { type: "string", "x-mcp-header": "Tenant" } },
            },
          },
        },
      },
    } as never,
  },
  (args) => JSON.stringify(args),
);

let mounted: Mounted;
beforeAll(async () => {
  mounted = await mount(server);
});
afterAll(() => mounted.close());

/** By `node:http`, header by header as given, in latin1 as Node writes them. */
function call(
  args: unknown,
  headers: Record<string, string | string[]>,
): Promise<{ status: number; body: Json }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port: mounted.port,
        path: "/mcp",
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "query",
          ...headers,
        },
      },
      (incoming) => {
        let text = "";
        incoming.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        incoming.on("end", () => resolve({ status: incoming.statusCode as number, body: JSON.parse(text) }));
      },
    );
    outgoing.on("error", reject);
    const params = { name: "query", _meta: MODERN_META, ...(args !== undefined && { arguments: args }) };
    outgoing.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
  });
}

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;

describe("what headers and body say alike is served", () => {
  test.each<[string, unknown, Record<string, string>]>([
    ["no arguments", undefined, {}],
    ["no parameter, no header", {}, {}],
    ["text", { region: "us-west1" }, { "Mcp-Param-Region": "us-west1" }],
    ["a header's name in any case", { region: "eu" }, { "MCP-PARAM-REGION": "eu" }],
    ["white space around it", { region: "eu" }, { "mcp-param-region": "  eu \t" }],
    ["nothing but an empty text", { region: "" }, { "mcp-param-region": "" }],
    ["encoded text", { region: "Hello" }, { "mcp-param-region": base64("Hello") }],
    [
      "other than ASCII",
      { region: "Hello, 世界" },
      { "mcp-param-region": "=?base64?SGVsbG8sIOS4lueVjA==?=" },
    ],
    ["spaces that count", { region: " padded " }, { "mcp-param-region": "=?base64?IHBhZGRlZCA=?=" }],
    ["a line break", { region: "line1\nline2" }, { "mcp-param-region": "=?base64?bGluZTEKbGluZTI=?=" }],
    [
      "what looks encoded",
      { region: "=?base64?literal?=" },
      { "mcp-param-region": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=" },
    ],
    ["a byte order mark", { region: "\ufeffx" }, { "mcp-param-region": base64("\ufeffx") }],
    ["an empty text, encoded", { region: "" }, { "mcp-param-region": "=?base64??=" }],
    ["no prefix: as it is", { region: "SGVsbG8=" }, { "mcp-param-region": "SGVsbG8=" }],
    ["no suffix: as it is", { region: "=?base64?SGVsbG8=" }, { "mcp-param-region": "=?base64?SGVsbG8=" }],
    [
      "a prefix in another case: as it is",
      { region: "=?BASE64?SGk=?=" },
      { "mcp-param-region": "=?BASE64?SGk=?=" },
    ],
    ["an integer", { limit: 42 }, { "mcp-param-limit": "42" }],
    ["an integer with zeros", { limit: 42 }, { "mcp-param-limit": "42.0" }],
    ["a negative integer", { limit: -7 }, { "mcp-param-limit": "-7" }],
    ["an encoded integer", { limit: 42 }, { "mcp-param-limit": base64("42") }],
    ["true", { dry: true }, { "mcp-param-dry-run": "true" }],
    ["false", { dry: false }, { "mcp-param-dry-run": "false" }],
    ["a nested property", { where: { tenant: { id: "acme" } } }, { "mcp-param-tenant": "acme" }],
    ["half of a path", { where: { tenant: {} } }, {}],
    ["a parameter that is not mirrored", { free: "x" }, {}],
    [
      "a header that is of no parameter",
      { free: "x" },
      { "mcp-param-free": "y", "mcp-param-unknown": "\u00e9" },
    ],
    [
      "all at once",
      { region: "eu", limit: 1, dry: true },
      { "mcp-param-region": "eu", "mcp-param-limit": "1", "mcp-param-dry-run": "true" },
    ],
  ])("%s", async (_what, args, headers) => {
    const { status, body } = await call(args, headers);
    expect([status, body.error]).toEqual([200, undefined]);
    expect(JSON.parse(body.result.content[0].text)).toEqual(args ?? {});
  });
});

test("null is no value: no header is expected, and the schema has the last word", async () => {
  const { status, body } = await call({ region: null, where: null }, {});
  expect([status, body.result.isError]).toEqual([200, true]);
});

describe("what they say differently is refused: 400, -32020", () => {
  test.each<[string, unknown, Record<string, string | string[]>]>([
    ["a header that is missing", { region: "eu" }, {}],
    ["a header that is missing for an empty text", { region: "" }, {}],
    ["a header that is missing for false", { dry: false }, {}],
    ["a header that is missing for 0", { limit: 0 }, {}],
    ["a header without a parameter", {}, { "mcp-param-region": "eu" }],
    ["a header without arguments", undefined, { "mcp-param-region": "eu" }],
    ["a header for null", { region: null }, { "mcp-param-region": "null" }],
    ["another text", { region: "eu" }, { "mcp-param-region": "us" }],
    ["another case", { region: "eu" }, { "mcp-param-region": "EU" }],
    ["a header that comes twice", { region: "eu" }, { "mcp-param-region": ["eu", "eu"] }],
    ["padding that is missing", { region: "Hello" }, { "mcp-param-region": "=?base64?SGVsbG8?=" }],
    ["padding that is too much", { region: "Hello" }, { "mcp-param-region": "=?base64?SGVsbG8==?=" }],
    ["what is not Base64", { region: "Hello" }, { "mcp-param-region": "=?base64?SGVs!!!bG8=?=" }],
    ["Base64 of a URL", { region: "??>" }, { "mcp-param-region": "=?base64?Pz8-?=" }],
    ["Base64 that is not UTF-8", { region: "\ufffd" }, { "mcp-param-region": "=?base64?/w==?=" }],
    ["characters that are not ASCII", { region: "caf\u00e9" }, { "mcp-param-region": "caf\u00e9" }],
    ["the sentinel as it is", { region: "=?base64?SGk=?=" }, { "mcp-param-region": "=?base64?SGk=?=" }],
    ["another integer", { limit: 42 }, { "mcp-param-limit": "43" }],
    ["a fraction", { limit: 42 }, { "mcp-param-limit": "42.5" }],
    ["an integer in hexadecimal", { limit: 42 }, { "mcp-param-limit": "0x2a" }],
    ["an integer with an exponent", { limit: 42 }, { "mcp-param-limit": "4.2e1" }],
    ["an integer that is empty", { limit: 0 }, { "mcp-param-limit": "" }],
    ["a boolean in another case", { dry: true }, { "mcp-param-dry-run": "True" }],
    ["a boolean as a number", { dry: true }, { "mcp-param-dry-run": "1" }],
    ["a nested property", { where: { tenant: { id: "acme" } } }, { "mcp-param-tenant": "evil" }],
    ["a nested property's header that is missing", { where: { tenant: { id: "acme" } } }, {}],
    ["one of several", { region: "eu", limit: 1 }, { "mcp-param-region": "eu", "mcp-param-limit": "2" }],
    [
      "a prototype's property",
      JSON.parse('{"where":{"__proto__":{"tenant":{"id":"x"}}}}'),
      { "mcp-param-tenant": "x" },
    ],
  ])("%s", async (_what, args, headers) => {
    const { status, body } = await call(args, headers);
    expect([status, body.error?.code, body.id]).toEqual([400, -32020, 1]);
  });

  test("a name that is not ASCII has to come encoded", async () => {
    const { status, body } = await call({}, { "mcp-name": "qu\u00e9ry" });
    expect([status, body.error.code]).toEqual([400, -32020]);
  });
});
