/** JSON is read within bounds: a hostile text costs an error that names the limit, never the process. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProtocolError } from "../src/errors.ts";
import { isObject, type JsonLimits, parseJson } from "../src/json.ts";

const nested = (depth: number, inner = "") => `${"[".repeat(depth)}${inner}${"]".repeat(depth)}`;

/** The name of the limit that a text passes. */
function limitPassed(text: string, limits?: JsonLimits): unknown {
  try {
    parseJson(text, limits);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(ProtocolError);
    const { code, message, data } = thrown as ProtocolError;
    expect(code).toBe(-32600);
    const { limit, value } = data as { limit: string; value: number };
    expect(message).toContain(limit);
    expect(message).toContain(String(value));
    return limit;
  }
  return undefined;
}

test("gives what JSON.parse gives", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      fc.pre(!text.includes("__proto__"));
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

test.each(["", "{", "{'a':1}", "[1,]", "NaN", "\u0000", '{"a":1}{"b":2}'])("refuses %j: not JSON", (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

describe("depth", () => {
  test.each([1, 63, 64])("%i is allowed by default", (depth) => {
    expect(limitPassed(nested(depth))).toBeUndefined();
    expect(limitPassed(nested(depth, " ".repeat(1_000)))).toBeUndefined();
  });

  test.each([65, 1_000])("%i is too much", (depth) => {
    expect(limitPassed(nested(depth))).toBe("maxDepth");
    expect(limitPassed(`{"a":${nested(depth - 1, "1")}}`)).toBe("maxDepth");
  });

  test("two million is too much, and no crash", () => {
    expect(limitPassed(nested(2_000_000))).toBe("maxDepth");
  });

  test("objects count as arrays do", () => {
    const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    expect(limitPassed(objects(64))).toBeUndefined();
    expect(limitPassed(objects(65))).toBe("maxDepth");
  });

  test("is checked before __proto__ is looked for", () => {
    expect(limitPassed(nested(100_000, '{"__proto__":1}'))).toBe("maxDepth");
  });

  test("is an option", () => {
    const limits = { maxDepth: 3, maxValues: 100 };
    expect(limitPassed(nested(3), limits)).toBeUndefined();
    expect(limitPassed(nested(4), limits)).toBe("maxDepth");
  });
});

describe("number of values", () => {
  const limits = { maxDepth: 8, maxValues: 10 };

  test.each([
    ["an array", `[${Array(9).fill("1")}]`, `[${Array(10).fill("1")}]`],
    ["an object", objectOf(9), objectOf(10)],
    ["arrays in arrays", `[[1,1,1],[1,1,1],1]`, `[[1,1,1],[1,1,1,1],1]`],
  ])("%s", (_, allowed, tooMany) => {
    expect(limitPassed(allowed, limits)).toBeUndefined();
    expect(limitPassed(tooMany, limits)).toBe("maxValues");
  });

  test("is a million by default", () => {
    expect(limitPassed(`[${"1,".repeat(999_998)}1]`)).toBeUndefined();
    expect(limitPassed(`[${"1,".repeat(999_999)}1]`)).toBe("maxValues");
  });

  function objectOf(members: number): string {
    return JSON.stringify(
      Object.fromEntries(Array.from({ length: members }, (_, index) => [`k${index}`, 1])),
    );
  }
});

describe("__proto__", () => {
  test.each([
    ["plain", '{"__proto__":{"admin":true},"a":1}'],
    ["escaped", '{"\\u005f_proto__":{"admin":true},"a":1}'],
    ["escaped in part", '{"__prot\\u006f__":{"admin":true},"a":1}'],
    ["escaped throughout", '{"\\u005F\\u005F\\u0070roto\\u005f\\u005f":{"admin":true},"a":1}'],
  ])("is dropped: %s", (_, text) => {
    const value = parseJson(text);
    expect(Object.keys(value as object)).toEqual(["a"]);
    expect(Object.assign({}, value)).not.toHaveProperty("admin");
  });

  test("is dropped inside of others", () => {
    expect(JSON.stringify(parseJson('[{"a":{"__proto__":1,"b":2}}]'))).toBe('[{"a":{"b":2}}]');
  });

  test("is an ordinary word in a value", () => {
    expect(parseJson('{"name":"__proto__"}')).toEqual({ name: "__proto__" });
  });

  test("pollutes nothing", () => {
    parseJson('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    expect({}).not.toHaveProperty("polluted");
  });
});

test.each([
  [{}, true],
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  ["{}", false],
  [undefined, false],
])("isObject(%j) is %j", (value, is) => {
  expect(isObject(value)).toBe(is);
});
