/** key=value → arguments, by the tool's schema. */

import { describe, expect, it } from "vitest";
import { readArguments, readArgumentsJson, readTexts, signature } from "../src/arguments.ts";

const schema = {
  type: "object",
  properties: {
    n: { type: "number" },
    i: { type: "integer" },
    b: { type: "boolean" },
    s: { type: "string" },
    unit: { type: "string", enum: ["celsius", "kelvin"] },
    level: { enum: [1, 2, "max"] },
    list: { type: "array", items: { type: "integer" } },
    o: { type: "object" },
    maybe: { anyOf: [{ type: "number" }, { type: "null" }] },
    color: { anyOf: [{ const: "red" }, { const: "green" }] },
    ref: { $ref: "#/$defs/Count" },
    any: {},
  },
  required: ["n"],
  $defs: { Count: { type: "integer" } },
};
const read = (...words: string[]) => readArguments(["n=1", ...words], schema);

describe("readArguments", () => {
  it.each([
    ["i=-3", { i: -3 }],
    ["b=true", { b: true }],
    ["s=12", { s: "12" }],
    ["s=a=b", { s: "a=b" }],
    ["s=", { s: "" }],
    ["unit=kelvin", { unit: "kelvin" }],
    ["level=2", { level: 2 }],
    ["level=max", { level: "max" }],
    ["list=4", { list: [4] }],
    ["list=[4,5]", { list: [4, 5] }],
    ['o={"x":1}', { o: { x: 1 } }],
    ["maybe=null", { maybe: null }],
    ["maybe=2.5e3", { maybe: 2500 }],
    ["color=green", { color: "green" }],
    ["ref=7", { ref: 7 }],
    ["any=[1]", { any: [1] }],
    ["any=word", { any: "word" }],
    ['s:={"raw":true}', { s: { raw: true } }],
  ])("%s", (word, expected) => {
    expect(read(word)).toEqual({ n: 1, ...expected });
  });

  it("makes an array of a repeated key", () => {
    expect(read("list=1", "list=2")).toEqual({ n: 1, list: [1, 2] });
    expect(() => read("s=1", "s=2")).toThrow(/"s" is given 2 times/);
  });

  it.each([
    ["i=1.5", /i: expected integer, got "1.5"/],
    ["n=ten", /given 2 times|expected number/],
    ["b=yes", /b: expected boolean, got "yes"/],
    ["unit=kelvn", /none of celsius, kelvin\. Did you mean "kelvin"/],
    ["lst=1", /no argument "lst"\. It takes: .* Did you mean "list"/],
    ["word", /"word" is no argument: write key=value, such as n=word/],
    ["s:=no", /s:= is not JSON/],
    ["i=9007199254740993", /larger than a JSON number can hold/],
    ["constructor=1", /no argument "constructor"/],
  ])("refuses %s", (word, message) => {
    expect(() => read(word)).toThrow(message);
  });

  it("names what is missing", () => {
    expect(() => readArguments([], schema)).toThrow("Missing: n=<number>.");
  });

  it("takes other keys where the schema does", () => {
    expect(readArguments(["x=1"], { type: "object", additionalProperties: true })).toEqual({ x: 1 });
  });

  it("survives a schema that refers to itself", () => {
    const loop = { properties: { x: { $ref: "#/properties/x" } } };
    expect(readArguments(["x=1"], loop)).toEqual({ x: 1 });
  });

  it("ends its walk through a schema that fans out without end", () => {
    const itself = { $ref: "#/properties/x" };
    const fan = { properties: { x: { allOf: Array(40).fill(itself) } }, required: ["x"] };
    expect(readArguments(["x=1"], fan)).toEqual({ x: 1 });
    expect(signature(fan)).toBe("x=<value>");
    expect(() => readArguments([], fan)).toThrow("Missing: x=<value>.");
    const nested = { properties: { x: { type: "array", items: itself } } };
    expect(readArguments(["x=[]", "x=[[]]"], nested)).toEqual({ x: [[], [[]]] });
    expect(signature(nested)).toBe("[x=<json array………>]");
    const long = { properties: { x: { anyOf: Array(100).fill({ enum: Array(5_000).fill("a") }) } } };
    expect(readArguments(["x=1"], long)).toEqual({ x: 1 });
  });

  it("names things on one line, whatever a server calls them", () => {
    const odd = {
      properties: { "a\n✓ ok": { type: "string" }, ["y".repeat(500)]: { enum: [{ toString: 1 }] } },
    };
    expect(signature(odd)).toBe(`[a ✓ ok=<text>] [${"y".repeat(79)}…=<{"toString":1}>]`);
    expect(() => readArguments(["b=1"], odd)).toThrow(/It takes: a ✓ ok, y{79}…\./);
  });
});

it("reads --args", () => {
  expect(readArgumentsJson('{"a":1}')).toEqual({ a: 1 });
  expect(() => readArgumentsJson("[1]")).toThrow(/--args takes a JSON object/);
  expect(() => readArgumentsJson("{")).toThrow(/--args is not JSON/);
});

it("reads the texts of a prompt", () => {
  expect(readTexts(["a=1", "b=x=y"], ["a", "b"], ["a"])).toEqual({ a: "1", b: "x=y" });
  expect(() => readTexts(["nmae=x"], ["name"], [])).toThrow(/Did you mean "name"/);
  expect(() => readTexts([], ["a"], ["a"])).toThrow("Missing: a=<text>.");
});

it("writes a tool as it is called", () => {
  expect(signature({ properties: { a: { type: "number" }, u: { enum: ["x", "y"] } }, required: ["a"] })).toBe(
    "a=<number> [u=<x|y>]",
  );
});
