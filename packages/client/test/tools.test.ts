/** What is made of a server's list of tools: headers that repeat parameters, and checks of what tools give. */

import type { JsonObject } from "@patchbay/core";
import { afterEach, describe, expect, test } from "vitest";
import { type Client, type ConnectOptions, connect, InvalidResponseError } from "../src/index.ts";
import { discovered, type Hit, type HttpFixture, httpFixture, json, result } from "./fixtures/http.ts";
import { LEGACY, MODERN, scripted } from "./scripted.ts";

const TEXT = { content: [{ type: "text", text: "done" }] };
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A modern server over HTTP; its list may change. */
async function offering(list: () => JsonObject[], call: (hit: Hit) => void, options?: ConnectOptions) {
  const fixture: HttpFixture = await httpFixture((hit) => {
    if (discovered(hit)) return;
    if (hit.message.method === "tools/list") result(hit, { tools: list() });
    else call(hit);
  });
  cleanups.push(fixture.close);
  const client = await connect(fixture.url, options);
  cleanups.unshift(() => client.close());
  return { client, hits: fixture.hits };
}

const schema = (properties: JsonObject) => ({ type: "object", properties });
const mirrored = (type: string, header: string) => ({ type, "x-mcp-header": header });

describe("parameters that headers repeat", () => {
  const tool = {
    name: "query",
    inputSchema: schema({
      region: mirrored("string", "Region"),
      count: mirrored("integer", "Count"),
      dry: mirrored("boolean", "Dry"),
      deep: schema({ er: mirrored("string", "Deeper") }),
      sql: { type: "string" },
    }),
  };
  const repeated = ({ headers }: Hit) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("mcp-param-")));

  test("are encoded, and left out where they have no value", async () => {
    const { client, hits } = await offering(
      () => [tool],
      (hit) => result(hit, TEXT),
    );
    await client.listTools();
    await client.callTool("query", { region: " 世界", count: -7, dry: false, deep: { er: "x" }, sql: "y" });
    await client.callTool("query", { region: null, count: 42, deep: "no object" });
    await client.request("tools/call", { name: "query", arguments: { region: "" } });
    expect(hits.slice(2).map(repeated)).toEqual([
      {
        "mcp-param-region": "=?base64?IOS4lueVjA==?=",
        "mcp-param-count": "-7",
        "mcp-param-dry": "false",
        "mcp-param-deeper": "x",
      },
      { "mcp-param-count": "42" },
      { "mcp-param-region": "" },
    ]);
    await expect(client.callTool("query", { count: 2 ** 53 })).rejects.toThrow("2^53");
  });

  test("of a tool that is not known, or has changed, are found out when the server misses them; once", async () => {
    let header = "Region";
    const { client, hits } = await offering(
      () => [{ name: "query", inputSchema: schema({ region: mirrored("string", header) }) }],
      (hit) => {
        if (hit.headers[`mcp-param-${header.toLowerCase()}`] !== undefined) result(hit, TEXT);
        else
          json(hit, { jsonrpc: "2.0", id: hit.message.id, error: { code: -32020, message: "missing" } }, 400);
      },
    );
    expect(await client.callTool("query", { region: "x" })).toEqual(TEXT);
    header = "Place";
    expect(await client.callTool("query", { region: "x" })).toEqual(TEXT);
    expect(hits.map(({ message }) => message.method)).toEqual([
      "server/discover",
      ...["tools/call", "tools/list", "tools/call"],
      ...["tools/call", "tools/list", "tools/call"],
    ]);
    const before = hits.length;
    await expect(client.callTool("query", {})).rejects.toMatchObject({ code: -32020 });
    expect(hits.slice(before).map(({ message }) => message.method)).toEqual([
      "tools/call",
      "tools/list",
      "tools/call",
    ]);
  });

  const wrong = [
    ["empty", schema({ a: mirrored("string", "") })],
    ["spaced", schema({ a: mirrored("string", "a b") })],
    ["number", schema({ a: mirrored("number", "A") })],
    ["twice", schema({ a: mirrored("string", "A"), b: mirrored("string", "a") })],
    ["nested", schema({ a: { type: "array", items: mirrored("string", "A") } })],
  ].map(([name, inputSchema]) => ({ name, inputSchema })) as JsonObject[];

  test("wrongly make a tool unusable: it is left out, and the application told why", async () => {
    const warnings: string[] = [];
    const { client } = await offering(
      () => [...wrong, tool],
      (hit) => result(hit, TEXT),
      { onWarning: ({ message }) => warnings.push(message) },
    );
    expect((await client.listTools()).map(({ name }) => name)).toEqual(["query"]);
    expect(warnings).toHaveLength(wrong.length);
    expect(warnings[0]).toBe('The tool "empty" is left out: a: x-mcp-header must be the name of a header');
  });

  test("are of no concern where there are no headers, or no such revision", async () => {
    const list = { "tools/list": () => ({ tools: wrong }) };
    expect(await (await connect(scripted({ ...MODERN, ...list }))).listTools()).toHaveLength(wrong.length);
    expect(await (await connect(scripted({ ...LEGACY, ...list }))).listTools()).toHaveLength(wrong.length);
  });
});

describe("what a tool gives", () => {
  const outputSchema = {
    type: "object",
    properties: { items: { type: "array", items: schema({ celsius: { type: "number" } }) } },
    required: ["items"],
  };

  /** A client that has listed one tool with this output schema, which gives this. */
  async function giving(output: JsonObject, given: JsonObject, script = MODERN): Promise<Client> {
    const tools = [{ name: "t", inputSchema: { type: "object" }, outputSchema: output }];
    const server = scripted({ ...script, "tools/list": () => ({ tools }), "tools/call": () => given });
    const client = await connect(server);
    await client.listTools();
    return client;
  }

  test("fits its schema", async () => {
    const given = { ...TEXT, structuredContent: { items: [{ celsius: 3 }] } };
    for (const script of [MODERN, LEGACY]) {
      expect(await (await giving(outputSchema, given, script)).callTool("t")).toEqual(given);
    }
  });

  test.each<[JsonObject, string]>([
    [
      { items: [{ celsius: 3 }, { celsius: "cold" }] },
      'the result of "t": structuredContent.items[1].celsius: must be number',
    ],
    [{}, "structuredContent.items: is required"],
    [[] as unknown as JsonObject, "structuredContent: must be object"],
  ])("or is an error that names the place (%j)", async (structuredContent, message) => {
    const client = await giving(outputSchema, { ...TEXT, structuredContent });
    const error = await client.callTool("t").catch((thrown) => thrown);
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toContain(message);
  });

  test("has to be there, unless the tool failed", async () => {
    const client = await giving(outputSchema, TEXT);
    await expect(client.callTool("t")).rejects.toThrow("its result has no structuredContent");
    const failed = { ...TEXT, isError: true };
    expect(await (await giving(outputSchema, failed)).callTool("t")).toEqual(failed);
  });

  test("may be anything where there is no schema, or none was listed", async () => {
    const given = { ...TEXT, structuredContent: 3 };
    const server = scripted({ ...MODERN, "tools/call": () => given });
    expect(await (await connect(server)).callTool("t")).toEqual(given);
  });

  test.each<[string, JsonObject, string]>([
    ["reaches into the network", { $ref: "https://a/b" }, "not fetched"],
    ["is of an unknown dialect", { $schema: "https://a/b" }, "dialect"],
    ["is wrong", { type: "nonsense" }, "type"],
    ["has a pattern beyond all bounds", { pattern: "a".repeat(513) }, "maxPatternLength"],
    ["leads round", { $ref: "#" }, "without end"],
  ])("is not even asked for when the schema %s", async (_, output, message) => {
    const client = await giving(output, { ...TEXT, structuredContent: {} });
    const error = await client.callTool("t").catch((thrown) => thrown);
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toContain(message);
  });

  test("is not checked for ever", async () => {
    const output = { type: "object", properties: { a: { type: "string", pattern: "^(a|a)*$" } } };
    const client = await giving(output, { ...TEXT, structuredContent: { a: `${"a".repeat(60)}!` } });
    await expect(client.callTool("t")).rejects.toThrow("takes more than 1000 ms");
  });
});
