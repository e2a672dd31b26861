/** Names, schemas and results: each as a provider takes it, whatever a server sends. */

import type { CallToolResult, JsonSchema } from "@patchbay/core";
import { describe, expect, it } from "vitest";
import { providerNames } from "../src/tools/names.ts";
import { readResult } from "../src/tools/result.ts";
import { lowerSchema } from "../src/tools/schema/lower.ts";

describe("names", () => {
  const named = (...addresses: [string, string][]) =>
    providerNames(addresses.map(([server, tool]) => ({ server, tool })));

  it("keeps a name that fits and is nobody else's", () => {
    expect(named(["a", "get_weather"], ["b", "read-file"])).toEqual(["get_weather", "read-file"]);
  });

  it("prefixes a name at each server that has it", () => {
    expect(named(["a", "search"], ["b", "search"], ["b", "open"])).toEqual([
      "a__search",
      "b__search",
      "open",
    ]);
  });

  it("maps what a provider does not take, and adds a hash only where two become the same", () => {
    expect(named(["a", "fs.read"])).toEqual(["fs_read"]);
    const [dotted, slashed, plain] = named(["a", "fs.read"], ["a", "fs/read"], ["a", "fs_read"]);
    expect(dotted).toMatch(/^fs_read_[0-9a-f]{8}$/);
    expect(slashed).toMatch(/^fs_read_[0-9a-f]{8}$/);
    expect(dotted).not.toBe(slashed);
    expect(plain).toBe("fs_read");
  });

  it("gives a long name, and one with no letter of the set, a hash that does not depend on the others", () => {
    const long = "x".repeat(128);
    const [cut, other] = named(["a", long], ["a", `${long}y`]);
    expect(cut).toHaveLength(64);
    expect(cut).not.toBe(other);
    expect(named(["b", "t"], ["a", long])[1]).toBe(cut);
    expect(named(["a", "天气"])[0]).toMatch(/^___[0-9a-f]{8}$/);
  });

  it("does not let a plain name stand for a prefixed one", () => {
    const names = named(["a", "x"], ["b", "x"], ["c", "a__x"]);
    expect(new Set(names).size).toBe(3);
    expect(names[2]).toBe("c__a__x");
  });

  it("gives nobody another server's name, however it is foreseen", () => {
    expect(named(["evil", "search"], ["evil", "files__search"], ["files", "search"])).toEqual([
      "evil__search",
      "evil__files__search",
      "files__search",
    ]);
    expect(
      providerNames([{ server: "evil", tool: "my_files__x" }], { servers: ["evil", "my files"] }),
    ).toEqual(["evil__my_files__x"]);
    expect(named(["files", "files__own"])).toEqual(["files__own"]);
    expect(named(["a", "fs.read"], ["evil", "fs_read"])).toEqual(["a__fs_read", "evil__fs_read"]);
    const long = "x".repeat(80);
    const [cut = ""] = named(["a", long]);
    const both = named(["evil", cut], ["a", long]);
    expect(both[1]).toBe(cut);
    expect(both[0]).not.toBe(cut);
  });
});

describe("schemas", () => {
  const lowered = async (schema: JsonSchema, provider: Parameters<typeof lowerSchema>[1] = "openai") => {
    const result = await lowerSchema(schema, provider);
    return "schema" in result ? result.schema : result.reason;
  };

  it("adds what providers insist on, and leaves the original as it was", async () => {
    const schema = { $schema: "http://json-schema.org/draft-07/schema#", type: "object" };
    expect(await lowered(schema)).toEqual({ type: "object", properties: {} });
    expect(schema).toEqual({ $schema: "http://json-schema.org/draft-07/schema#", type: "object" });
    expect(await lowered({ type: "object", properties: { list: { type: "array" } } })).toEqual({
      type: "object",
      properties: { list: { type: "array", items: {} } },
    });
  });

  it("does not take a property, a default or an example for a keyword", async () => {
    const schema = {
      type: "object",
      properties: {
        type: { type: "string" },
        $ref: { type: "string" },
        oneOf: { default: { type: "array" } },
      },
    };
    expect(await lowered(schema, "deepseek")).toEqual(schema);
  });

  it("makes one object of alternatives at the root, and says so", async () => {
    const schema = {
      type: "object",
      properties: { a: {} },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    };
    const result = await lowerSchema(schema, "anthropic");
    expect(result).toEqual({
      schema: { type: "object", properties: { a: {}, b: {} } },
      lost: ["which of the alternatives at the root belong together"],
    });
  });

  it("puts what a $ref points to in its place for DeepSeek, and ends a loop", async () => {
    const schema = {
      type: "object",
      properties: { tree: { $ref: "#/$defs/node" } },
      $defs: {
        node: { type: "object", properties: { next: { $ref: "#/$defs/node" }, name: { type: "string" } } },
      },
    };
    expect(await lowered(schema, "openai")).toEqual(schema);
    expect(await lowerSchema(schema, "deepseek")).toEqual({
      schema: {
        type: "object",
        properties: {
          tree: {
            type: "object",
            properties: {
              next: {
                type: "object",
                properties: { next: { type: "object", properties: {} }, name: { type: "string" } },
              },
              name: { type: "string" },
            },
          },
        },
      },
      lost: ["tree.next.next: what #/$defs/node says"],
    });
  });

  it("bounds what long lists and long chains of references cost", async () => {
    const names = Array.from({ length: 100 }, (_, index) => `d${index}`);
    const chain = Object.fromEntries(
      names.map((name, index) => [
        name,
        { properties: { next: { $ref: `#/$defs/d${Math.min(index + 1, 99)}` } } },
      ]),
    );
    const first = { type: "object", properties: { a: { $ref: "#/$defs/d0" } } };
    expect(await lowerSchema({ ...first, $defs: chain }, "deepseek")).toHaveProperty("schema");
    const odd = { type: "object", properties: { a: { $ref: "#/$defs/%E0%A4%A" } } };
    expect(await lowerSchema(odd, "deepseek")).toBeDefined();
  });

  it("writes references that would grow without end out to where there is room", async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => {
        const next = level === 39 ? { type: "string" } : { $ref: `#/$defs/d${level + 1}` };
        return [`d${level}`, { type: "object", properties: { a: next, b: next } }];
      }),
    );
    const schema = { type: "object", properties: { start: { $ref: "#/$defs/d0" } }, $defs };
    const result = await lowerSchema(schema, "deepseek");
    expect(JSON.stringify(result).length).toBeLessThan(100_000);
    expect(result).toMatchObject({
      schema: { properties: { start: { properties: { a: { properties: {} } } } } },
    });
    expect("lost" in result && result.lost.some((what) => what.includes("#/$defs/d"))).toBe(true);
    expect(await lowered(schema, "openai")).toEqual(schema);
  });

  it.each<[JsonSchema, RegExp]>([
    [{ type: "string" }, /of type "string", not "object"/],
    [{ type: "object", properties: { a: { type: "strng" } } }, /input schema is wrong/],
    [{ type: "object", properties: { a: { $ref: "https://example.com/x" } } }, /points outside the schema/],
    [{ type: "object", properties: { a: { pattern: "a".repeat(600) } } }, /maxPatternLength/],
  ])("gives the reason why %o cannot be offered", async (schema, reason) => {
    expect(await lowered(schema)).toMatch(reason);
  });
});

describe("results", () => {
  const read = (result: Partial<CallToolResult> | object) => readResult(result as CallToolResult);
  const text = (value: string) => ({ type: "text", text: value });

  it.each<[string, object, string]>([
    ["the same JSON", { content: [text('{ "a": 1 }')], structuredContent: { a: 1 } }, '{ "a": 1 }'],
    ["its one value as text", { content: [text("42.5")], structuredContent: { result: 42.5 } }, "42.5"],
    ["each value as text", { content: [text("4")], structuredContent: { result: "4", value: 4 } }, "4"],
    ["no text", { content: [], structuredContent: { a: [1] } }, '{"a":[1]}'],
    ["other text", { content: [text("Two.")], structuredContent: [1, 2] }, "Two.\n\n[1,2]"],
    ["nothing", { content: [] }, "(the tool returned nothing)"],
    ["no content at all", {}, "(the tool returned nothing)"],
    [
      "an embedded text",
      {
        content: [
          { type: "resource", resource: { uri: "file:///a.md", mimeType: "text/markdown", text: "# A" } },
        ],
      },
      "[resource file:///a.md, text/markdown]\n# A",
    ],
    [
      "an embedded binary",
      { content: [{ type: "resource", resource: { uri: "file:///a.bin", blob: "AAAA" } }] },
      "[resource file:///a.bin, 3 bytes: binary, not shown to the model]",
    ],
    [
      "a link",
      {
        content: [
          { type: "resource_link", uri: "file:///a", name: "a", mimeType: "text/plain", title: "Notes" },
        ],
      },
      "[resource a at file:///a: text/plain, Notes]",
    ],
    [
      "audio",
      { content: [{ type: "audio", data: "AAAAAAAA", mimeType: "audio/wav" }] },
      "[audio audio/wav, 6 bytes: not shown to the model]",
    ],
    [
      "an unknown type",
      { content: [{ type: "hologram" }] },
      '[content of type "hologram": not shown to the model]',
    ],
    [
      "no block",
      { content: [null, 7] },
      "[content of type null: not shown to the model]\n\n[content of type null: not shown to the model]",
    ],
    [
      "an image that is none",
      { content: [{ type: "image", data: "<svg>", mimeType: "image/png" }] },
      "[image image/png: not base64, not shown to the model]",
    ],
    [
      "an image nobody takes",
      { content: [{ type: "image", data: "AAAA", mimeType: "image/tiff" }] },
      "[image image/tiff, 3 bytes: not shown to the model]",
    ],
  ])("reads %s", (_, result, expected) => {
    expect(read(result)).toEqual({ text: expected, images: [] });
  });

  it("hands on images, those of resources too", () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" };
    const resource = { type: "resource", resource: { uri: "x:y", mimeType: "image/gif", blob: "BBBB" } };
    expect(read({ content: [image, resource] }).images).toEqual([
      { mimeType: "image/png", data: "AAAA" },
      { mimeType: "image/gif", data: "BBBB" },
    ]);
  });
});
