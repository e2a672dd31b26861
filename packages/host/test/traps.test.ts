/** Each trap that a provider's 400 is known to be: the schema as it is would be refused, the lowered copy is taken. */

import type { JsonSchema } from "@patchbay/core";
import { describe, expect, it } from "vitest";
import {
  type Lowered,
  lowerSchema,
  restoreArguments,
  type ToolFormat,
  toolDefinitions,
} from "../src/tools/index.ts";
import { complaintAbout } from "./provider-rules.ts";

const object = (properties: object, more: object = {}): JsonSchema => ({
  type: "object",
  properties,
  ...more,
});
const tree = {
  $defs: {
    node: { type: "object", properties: { next: { $ref: "#/$defs/node" }, name: { type: "string" } } },
  },
};

/** What a request that holds nothing but this tool is answered. */
function complaint(
  format: ToolFormat,
  schema: JsonSchema,
  name = "t",
  description = "A tool.",
): string | undefined {
  const tools = toolDefinitions(format, [{ name, tool: { name, description }, schema }]);
  return complaintAbout(format, { tools, messages: [], input: [], contents: [], max_tokens: 1 });
}

async function lowered(schema: JsonSchema, format: ToolFormat): Promise<Lowered> {
  const result = await lowerSchema(schema, format);
  if ("reason" in result) throw new Error(result.reason);
  return result;
}

describe.each<[ToolFormat, string, JsonSchema]>([
  ["openai", "no properties", { type: "object" }],
  ["openai", "an array without items", object({ list: { type: "array" } })],
  ["openai", "an array in a list of types", object({ list: { type: ["array", "null"] } })],
  ["openai", "alternatives at the root", object({}, { oneOf: [object({ a: {} }), object({ b: {} })] })],
  ["openai", "a reference at the root", { $ref: "#/$defs/node", ...tree }],
  ["openai", "$schema", object({}, { $schema: "http://json-schema.org/draft-07/schema#" })],
  [
    "openai",
    "items as a list",
    object(
      { pair: { type: "array", items: [{}, {}] } },
      { $schema: "http://json-schema.org/draft-07/schema#" },
    ),
  ],
  ["openai", "a reference to nothing", object({ a: { $ref: "#/$defs/gone" } })],
  ["openai-responses", "no properties", { type: "object" }],
  ["anthropic", "no type", { properties: {} }],
  ["anthropic", "alternatives at the root", object({}, { anyOf: [object({ a: {} }), object({ b: {} })] })],
  ["anthropic", "parts at the root", { type: "object", allOf: [object({ a: {} }), object({ b: {} })] }],
  ["anthropic", "the name of a property", object({ "filter[id]": {}, $top: {} })],
  [
    "anthropic",
    "a reference to another property",
    object({ a: { type: "string" }, b: { $ref: "#/properties/a" } }),
  ],
  ["gemini", "a list of types", object({ a: { type: ["string", "null"] } })],
  ["gemini", "several types", object({ a: { type: ["string", "integer"] } })],
  ["gemini", "additionalProperties", object({ a: { type: "string" } }, { additionalProperties: false })],
  ["gemini", "$ref", object({ tree: { $ref: "#/$defs/node" } }, tree)],
  ["gemini", "const", object({ a: { const: "x" } })],
  ["gemini", "a format", object({ a: { type: "string", format: "uri" } })],
  ["gemini", "numbers in an enum", object({ a: { type: "integer", enum: [1, 2] } })],
  ["gemini", "an empty text in an enum", object({ a: { type: "string", enum: ["", "x"] } })],
  ["gemini", "an enum without a type", object({ a: { enum: ["x"] } })],
  ["gemini", "an object without properties", object({ a: { type: "object" } })],
  ["gemini", "no type", object({ a: {} })],
  [
    "gemini",
    "something beside anyOf",
    object({ a: { description: "A", anyOf: [{ type: "string" }, { type: "integer" }] } }),
  ],
  [
    "gemini",
    "alternatives that only require",
    object({ a: {} }, { anyOf: [{ required: ["a"] }, { required: ["b"] }] }),
  ],
  ["gemini", "what is required and not there", object({ a: { type: "string" } }, { required: ["b"] })],
  ["deepseek", "anyOf inside", object({ a: { anyOf: [{ type: "string" }, { type: "integer" }] } })],
  ["deepseek", "$ref", object({ tree: { $ref: "#/$defs/node" } }, tree)],
  ["ollama", "a boolean schema", object({ a: true })],
  ["ollama", "what it does not read", object({ a: { oneOf: [{ const: "x" }, { const: "y" }] } })],
])("%s: %s", (format, _, schema) => {
  it("is refused as it is, and taken when it is lowered", async () => {
    if (format !== "anthropic" || schema.type !== undefined) expect(complaint(format, schema)).toBeDefined();
    expect(complaint(format, (await lowered(schema, format)).schema)).toBeUndefined();
  });
});

describe("what is lost is told", () => {
  it("in the description, where the provider has no keyword for it", async () => {
    const schema = object({
      size: { type: "integer", enum: [1, 2], description: "How large" },
      link: { type: "string", format: "uri", default: "x:y" },
    });
    expect(await lowered(schema, "gemini")).toEqual({
      schema: object({
        size: { type: "integer", description: 'How large (has to fit {"enum":[1,2]})' },
        link: { type: "string", description: '(default "x:y"; has to fit {"format":"uri"})' },
      }),
      lost: ["size: enum", "link: format", "link: default"],
    });
  });

  it("keeps null, one of a few values, and alternatives", async () => {
    const schema = object({
      unit: { enum: ["m", "ft", null] },
      when: {
        oneOf: [{ type: "string", format: "date-time" }, { type: "integer" }, { type: "null" }],
        description: "When",
      },
    });
    expect((await lowered(schema, "gemini")).schema).toEqual(
      object({
        unit: { type: "string", enum: ["m", "ft"], nullable: true },
        when: {
          anyOf: [
            { type: "string", format: "date-time", description: "When", nullable: true },
            { type: "integer" },
          ],
        },
      }),
    );
    expect((await lowered(schema, "deepseek")).schema.properties).toEqual({
      unit: { enum: ["m", "ft", null] },
      when: { type: ["string", "integer", "null"], description: "When" },
    });
  });

  it("merges the parts of allOf, and of what a reference says beside its own", async () => {
    const schema = {
      type: "object",
      allOf: [
        object({ a: { $ref: "#/$defs/short", description: "A" } }, { required: ["a"] }),
        object({ b: { type: "integer" } }),
      ],
      $defs: { short: { type: "string", maxLength: 3 } },
    };
    expect((await lowered(schema, "anthropic")).schema).toEqual(
      object(
        { a: { type: "string", maxLength: 3, description: "A" }, b: { type: "integer" } },
        { required: ["a"] },
      ),
    );
  });
});

it.each<ToolFormat>(["openai", "gemini", "deepseek"])(
  "%s: references that only lead to one another end",
  async (format) => {
    const $defs = { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } };
    const { schema, lost } = await lowered(
      object({ x: { $ref: "#/$defs/a", description: "X" } }, { $defs }),
      format,
    );
    expect(complaint(format, schema)).toBeUndefined();
    expect(lost).toContain("x: what #/$defs/a says");
  },
);

describe("what the model writes otherwise is put right again", () => {
  it("a value that Gemini has no schema for, as JSON in a text", async () => {
    const { schema } = await lowered(
      object({ any: {}, map: { type: "object", additionalProperties: { type: "integer" } } }),
      "gemini",
    );
    expect(restoreArguments(schema, { any: "[1,2]", map: '{"a":1}' })).toEqual({
      any: [1, 2],
      map: { a: 1 },
    });
    expect(restoreArguments(schema, { any: "plain text", map: "not JSON" })).toEqual({
      any: "plain text",
      map: "not JSON",
    });
  });

  it("the name of a property, at any depth", async () => {
    const inner = object({ "filter[id]": { type: "string" } }, { required: ["filter[id]"] });
    const { schema, lost } = await lowered(object({ list: { type: "array", items: inner } }), "anthropic");
    const [name = ""] = Object.keys(
      ((schema.properties as never as Record<string, unknown>).list as { items: JsonSchema }).items
        .properties as object,
    );
    expect(name).toMatch(/^filter_id__[0-9a-f]{6}$/);
    expect(lost).toEqual([`list.filter[id]: its name, which is ${name} there`]);
    expect(restoreArguments(schema, { list: [{ [name]: "1" }] })).toEqual({ list: [{ "filter[id]": "1" }] });
  });
});

it("a description that is too long for OpenAI goes on in the schema", () => {
  const long = "word ".repeat(500).trim();
  const [tool] = toolDefinitions("openai", [
    { name: "t", tool: { name: "t", description: long }, schema: object({}) },
  ]);
  expect(tool?.function.description.length).toBeLessThanOrEqual(1_024);
  const said = `${tool?.function.description} ${tool?.function.parameters.description}`;
  expect(said.replaceAll(" … …", "")).toBe(long);
  expect(complaint("openai", object({}), "t", long)).toBeUndefined();
});
