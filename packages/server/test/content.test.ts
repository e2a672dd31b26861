/** What handlers give is checked before it is sent: kinds of content, base64, the keys of _meta. */

import { describe, expect, test } from "vitest";
import { McpServer, type PromptReturn, type ResourceReturn, type ToolReturn } from "../src/index.ts";
import { type Json, memory, WIRES } from "./wire.ts";

const info = { name: "gives", version: "1" };
const image = (data: string) => ({ type: "image", data, mimeType: "image/png" });
const holds = (resource: object) => ({ type: "resource", resource: { uri: "test://a", ...resource } });

const BAD_BLOCKS: [what: string, block: object, why: RegExp][] = [
  ["an image that is not base64", image("not base64!!"), /"data" of image content is not base64/],
  ["base64 of the URL's alphabet", image("__-_"), /not base64/],
  ["base64 without its padding", image("aGk"), /not base64/],
  ["base64 with a line break", image("aGkh\naGk"), /not base64/],
  ["long base64 with one wrong character", image(`${"A".repeat(99)}!`), /not base64/],
  ["long base64 of the URL's alphabet", image(`${"A".repeat(99)}_`), /not base64/],
  ["long base64 with padding inside", image(`${"A".repeat(50)}==${"A".repeat(48)}`), /not base64/],
  ["audio", { type: "audio", data: "?", mimeType: "audio/wav" }, /"data" of audio content/],
  ["a blob", holds({ blob: "%%%%" }), /"blob" is not base64/],
  ["a resource without contents", holds({}), /lacks what its type needs/],
  ["a link without a name", { type: "resource_link", uri: "test://a" }, /lacks what its type needs/],
  ["a key that is no name", { type: "text", text: "a", _meta: { "a b": 1 } }, /the key "a b"/],
  ["a prefix that is none", { type: "text", text: "a", _meta: { "1com/x": 1 } }, /the key "1com\/x"/],
  ["a _meta that is no object", { type: "text", text: "a", _meta: [] }, /_meta must be an object/],
];

const GOOD_BLOCKS: object[] = [
  image(""),
  image("aGk="),
  image("AAAA".repeat(100)),
  image(`${"A+/9".repeat(100)}aA==`),
  holds({ blob: "aGk=", mimeType: "image/png" }),
  holds({ text: "a" }),
  {
    type: "text",
    text: "a",
    _meta: { "com.example/x": 1, "": 2, a: 3, "a-b_c.d": 4, traceparent: "x", "ui/resourceUri": "" },
  },
];

/** Asks a server that gives one thing, whatever it is asked for. */
async function ask(
  given: unknown,
  method: string,
  params: Json,
): Promise<{ response: Json; reported: string[] }> {
  const reported: string[] = [];
  const server = new McpServer(info, { onError: (error) => reported.push(String(error)) })
    .tool("give", {}, () => given as ToolReturn<never>)
    .prompt("give", {}, () => given as PromptReturn)
    .resource("test://a", { name: "a" }, () => given as ResourceReturn);
  const wire = await (WIRES.find(([name]) => name === "memory, 2025-11-25") as (typeof WIRES)[number])[1](
    server,
  );
  const response = await wire.request(method, params);
  await wire.close();
  return { response, reported };
}

describe("content", () => {
  test.each(BAD_BLOCKS)("of a tool: %s is kept from the client", async (_what, block, why) => {
    for (const given of [[block], { content: [block] }]) {
      const { response, reported } = await ask(given, "tools/call", { name: "give" });
      expect(response.result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining("not valid") }],
      });
      expect(reported).toEqual([expect.stringMatching(why)]);
    }
  });

  test.each(BAD_BLOCKS)("of a prompt: %s is kept from the client", async (_what, block) => {
    const messages = [{ role: "user", content: block }];
    for (const given of [messages, { messages }]) {
      const { response, reported } = await ask(given, "prompts/get", { name: "give" });
      expect(response.error).toEqual({ code: -32603, message: "Internal error" });
      expect(reported).toEqual([expect.stringContaining('Prompt "give": what it gave is not valid')]);
    }
  });

  test.each(GOOD_BLOCKS.map((block) => [JSON.stringify(block).slice(0, 60), block]))(
    "that is sent as it is: %s",
    async (_text, block) => {
      const called = await ask([block], "tools/call", { name: "give" });
      expect(called).toMatchObject({ response: { result: { content: [block] } }, reported: [] });
      const got = await ask([{ role: "user", content: block }], "prompts/get", { name: "give" });
      expect(got).toMatchObject({ response: { result: { messages: [{ content: block }] } }, reported: [] });
    },
  );

  test.each<[string, unknown]>([
    ["a blob that is not base64", { uri: "test://a", blob: "?" }],
    ["neither text nor blob", { uri: "test://a" }],
    ["no URI", [{ text: "a" }]],
    ["a key that is no name", { contents: [{ uri: "test://a", text: "a", _meta: { "-": 1 } }] }],
    ["a result's key that is no name", { contents: [], _meta: { "a/b/c": 1 } }],
    ["a number", 5],
  ])("of a resource: %s is kept from the client", async (_what, given) => {
    const { response, reported } = await ask(given, "resources/read", { uri: "test://a" });
    expect(response.error).toEqual({ code: -32603, message: "Internal error" });
    expect(reported).toEqual([expect.stringContaining('Resource "test://a": what was read is not valid')]);
  });

  test("of a result: keys that are no names", async () => {
    const { reported } = await ask({ content: [], _meta: { "com./x": 1 } }, "tools/call", { name: "give" });
    expect(reported).toEqual([expect.stringContaining('"com./x"')]);
    const prompt = await ask({ messages: [], _meta: { "com./x": 1 } }, "prompts/get", { name: "give" });
    expect(prompt.reported).toEqual([expect.stringContaining('"com./x"')]);
  });

  test("of ten million characters goes through whole", async () => {
    const data = Buffer.alloc(7_500_000, 7).toString("base64");
    const { response } = await ask([image(data)], "tools/call", { name: "give" });
    expect(response.result.content[0].data).toBe(data);
  });
});

describe("how long something may be kept", () => {
  test.each([{ ttlMs: -1 }, { ttlMs: 0.5 }, { ttlMs: Number.NaN }, { cacheScope: "nobody" as "public" }])(
    "%j is refused",
    async (cache) => {
      const why = /must be/;
      expect(() => new McpServer(info, { cache })).toThrow(why);
      expect(() => new McpServer(info).resource("test://a", { name: "a", cache }, () => "")).toThrow(why);
      expect(() => new McpServer(info).resourceTemplate("a:{b}", { name: "a", cache }, () => "")).toThrow(
        why,
      );
      const { reported } = await ask({ contents: [], ...cache }, "resources/read", { uri: "test://a" });
      expect(reported).toEqual([expect.stringMatching(why)]);
    },
  );
});

describe("a definition's _meta", () => {
  const _meta = { "com.example/a b": 1 };
  test("has keys that are names, or is refused", () => {
    const server = new McpServer(info);
    const why = /has the key "com\.example\/a b"/;
    expect(() => server.tool("t", { _meta }, () => "")).toThrow(/Tool "t": _meta has the key/);
    expect(() => server.resource("test://a", { name: "a", _meta }, () => "")).toThrow(why);
    expect(() => server.resourceTemplate("test://{a}", { name: "a", _meta }, () => "")).toThrow(why);
    expect(() => server.prompt("p", { _meta }, () => "")).toThrow(why);
    expect(() =>
      server.tool("t", { _meta: { ui: {}, "io.modelcontextprotocol/x": 1 } }, () => ""),
    ).not.toThrow();
  });
});

test("a result that was another server's does not name two servers", async () => {
  const _meta = { "io.modelcontextprotocol/serverInfo": { name: "theirs", version: "0" }, own: 1 };
  const server = new McpServer(info).tool("pass", {}, () => ({ content: [], _meta }));
  const client = memory(server);
  const text = await new Promise<string>((resolve) => {
    client.listen(resolve, () => {});
    const meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`;
    client.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pass","_meta":${meta}}}`);
  });
  await client.close();
  expect(text.match(/serverInfo/g)).toHaveLength(1);
  expect(JSON.parse(text).result._meta).toMatchObject({ own: 1, "io.modelcontextprotocol/serverInfo": info });
});
