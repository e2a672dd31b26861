/** What a definition must be, by the specification: anything else is refused when it is made. */

import { describe, expect, test } from "vitest";
import { McpServer } from "../src/index.ts";

const info = { name: "defined", version: "1" };
const region = { type: "string", "x-mcp-header": "Region" };

describe("an x-mcp-header", () => {
  test.each<[string, Record<string, object>, RegExp]>([
    ["empty", { a: { type: "string", "x-mcp-header": "" } }, /the name of a header/],
    ["with a space", { a: { type: "string", "x-mcp-header": "My Region" } }, /the name of a header/],
    ["with a line break", { a: { type: "string", "x-mcp-header": "a\r\nb" } }, /the name of a header/],
    ["no text", { a: { type: "string", "x-mcp-header": 5 } }, /the name of a header/],
    ["twice, in another case", { a: region, b: { ...region, "x-mcp-header": "REGION" } }, /the same/],
    ["on a number", { a: { type: "number", "x-mcp-header": "N" } }, /integers/],
    ["on an object", { a: { type: "object", "x-mcp-header": "O" } }, /integers/],
    ["within an array", { a: { type: "array", items: region } }, /only "properties"/],
    ["within a choice", { a: { anyOf: [region] } }, /only "properties"/],
  ])("that breaks the rules is refused: %s", (_what, properties, why) => {
    const server = new McpServer(info);
    expect(() => server.tool("query", { input: { type: "object", properties } }, () => "")).toThrow(why);
  });

  test("may stand on a property that properties lead to", () => {
    const input = { type: "object", properties: { where: { type: "object", properties: { region } } } };
    expect(() => new McpServer(info).tool("query", { input }, () => "")).not.toThrow();
  });
});

describe("the name of an extension", () => {
  test.each([
    "feature",
    "/feature",
    "1com/feature",
    "com./feature",
    "com.example-/feature",
    "com/-feature",
    "a b/c",
  ])("has a prefix: %j is refused", (name) => {
    expect(() => new McpServer(info, { extensions: { [name]: {} } })).toThrow(/has a prefix/);
  });

  test.each(["io.modelcontextprotocol/tasks", "com.example/", "x-1.y/Feature_2.b"])("is %j", (name) => {
    expect(() => new McpServer(info, { extensions: { [name]: {} } })).not.toThrow();
  });
});
