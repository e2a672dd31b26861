/** A schema is checked before it is compiled, and says of a value where and why it does not fit. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { ProtocolError } from "../src/errors.ts";
import { checkSchema, compileSchema, DEFAULT_SCHEMA_LIMITS } from "../src/schema/compile.ts";
import { formatIssues, formatPath, type JsonSchema } from "../src/schema/json-schema.ts";

/** What is wrong with a value, as one sentence. */
const problem = (schema: JsonSchema, value: unknown) => formatIssues(compileSchema(schema)(value) ?? []);

describe("what does not fit", () => {
  const city: JsonSchema = {
    type: "object",
    properties: {
      city: { type: "string", minLength: 2 },
      days: { type: "integer" },
      unit: { enum: ["C", "F"] },
      version: { const: 1 },
      "a/b~c": { type: "string" },
      stops: { type: "array", items: { type: "object", required: ["name"] } },
    },
    required: ["city"],
    additionalProperties: false,
  };

  test.each<[unknown, string]>([
    [{ city: "Oslo" }, ""],
    [{}, "city: is required"],
    [{ city: 1 }, "city: must be string"],
    [{ city: "x" }, "city: must NOT have fewer than 2 characters"],
    [{ city: "Oslo", days: 1.5 }, "days: must be integer"],
    [{ city: "Oslo", unit: "K" }, 'unit: must be one of "C", "F"'],
    [{ city: "Oslo", version: 2 }, "version: must be 1"],
    [{ city: "Oslo", town: 1 }, 'has no property "town"'],
    [{ city: "Oslo", "a/b~c": 1 }, "a/b~c: must be string"],
    [{ city: "Oslo", stops: [{ name: 1 }, {}] }, "stops[1].name: is required"],
    [[], "must be object"],
    [null, "must be object"],
    ["x", "must be object"],
  ])("%j: %s", (value, says) => {
    expect(problem(city, value)).toBe(says);
  });

  test.each<[(string | number)[], string]>([
    [[], ""],
    [["a"], "a"],
    [["a", "b"], "a.b"],
    [["items", "2", "name"], "items[2].name"],
    [[0, 1], "[0][1]"],
  ])("the path %j is written %j", (steps, path) => {
    expect(formatPath(steps)).toBe(path);
  });
});

test("the same schema object gives the same validator", () => {
  const schema = { type: "string" };
  expect(compileSchema(schema)).toBe(compileSchema(schema));
  expect(compileSchema({ type: "string" })).not.toBe(compileSchema(schema));
});

test("a schema that nobody holds any more is forgotten, however many were compiled", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const kept = Array.from({ length: 1_000 }, (_, index) => {
    const schema = { type: "object", properties: { a: { const: index, $anchor: `a${index}` } } };
    compileSchema(schema)({ a: index });
    return new WeakRef(schema.properties.a);
  });
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  // An engine keeps what it compiled until it is given up, some hundreds later.
  expect(kept.filter((schema) => schema.deref() !== undefined).length).toBeLessThan(500);
});

describe("dialects", () => {
  const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";

  test.each([undefined, DRAFT_2020])("2020-12, as %s", ($schema) => {
    const tuple = { ...($schema && { $schema }), prefixItems: [{ type: "string" }], items: false };
    expect(problem(tuple, ["a"])).toBe("");
    expect(problem(tuple, ["a", "b"])).not.toBe("");
    expect(problem(tuple, [1])).toBe("[0]: must be string");
  });

  test.each([
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft-07/schema#",
  ])("draft-07, as %s", ($schema) => {
    const tuple = { $schema, items: [{ type: "string" }], additionalItems: false };
    expect(problem(tuple, ["a"])).toBe("");
    expect(problem(tuple, ["a", "b"])).not.toBe("");
  });

  test.each(["http://json-schema.org/draft-04/schema#", "https://example.com/mine", ""])(
    "%j is refused by its name",
    ($schema) => {
      expect(() => compileSchema({ $schema, type: "object" })).toThrow(`"${$schema}" is not supported`);
    },
  );

  test("a keyword that no dialect knows is passed over", () => {
    expect(problem({ type: "string", "x-hint": 1, format: "none-such" }, "a")).toBe("");
  });

  test.each<JsonSchema>([{ type: "strin" }, { properties: [] }, { minLength: "2" } as JsonSchema])(
    "the wrong schema %j is refused",
    (schema) => {
      expect(() => compileSchema(schema)).toThrow(Error);
    },
  );
});

describe("references", () => {
  const tree: JsonSchema = {
    $ref: "#/$defs/node",
    $defs: {
      node: { type: "object", properties: { children: { type: "array", items: { $ref: "#/$defs/node" } } } },
    },
  };

  test("inside the schema are followed, also to themselves", () => {
    expect(problem(tree, { children: [{ children: [] }] })).toBe("");
    expect(problem(tree, { children: [{ children: [1] }] })).toBe("children[0].children[0]: must be object");
  });

  test("to an anchor are followed", () => {
    const schema = { $ref: "#name", $defs: { name: { $anchor: "name", type: "string" } } };
    expect(problem(schema, 1)).toBe("must be string");
  });

  test.each([
    { $ref: "https://example.com/schema.json" },
    { $ref: "other.json#/a" },
    { $ref: "file:///etc/passwd" },
    { $dynamicRef: "https://example.com/x#node" },
    { properties: { deep: { items: [{ $ref: "//example.com" }] } } },
  ])("outside of it are never fetched: %j", (schema) => {
    expect(() => compileSchema(schema as JsonSchema)).toThrow("points outside the schema");
  });

  test("to nothing are refused", () => {
    expect(() => compileSchema({ $ref: "#/$defs/none" })).toThrow(Error);
  });

  test("a property may be called $ref", () => {
    const schema: JsonSchema = { properties: { $ref: { type: "string" } } };
    expect(problem(schema, { $ref: "https://example.com" })).toBe("");
    expect(problem(schema, { $ref: 1 })).toBe("$ref: must be string");
  });

  test("to the whole schema are followed", () => {
    const schema = { type: "object", properties: { child: { $ref: "#" } } };
    expect(problem(schema, { child: { child: {} } })).toBe("");
    expect(problem(schema, { child: { child: 1 } })).toBe("child.child: must be object");
    const draft07 = { $schema: "http://json-schema.org/draft-07/schema#", ...schema };
    expect(problem(draft07, { child: { child: 1 } })).toBe("child.child: must be object");
  });

  test.each<JsonSchema>([{ $ref: "#" }, { allOf: [{ $ref: "#" }] }, { properties: {}, not: { $ref: "#" } }])(
    "that lead round without end are an issue, not an overflow: %j",
    (schema) => {
      expect(problem(schema, {})).toContain("without end");
      expect(problem(schema, {})).toContain("without end");
    },
  );

  test("that only lead to one another are refused", () => {
    const round = { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } };
    expect(() => compileSchema(round)).toThrow("without end");
  });

  test("two schemas may have one $id", () => {
    const $id = "https://example.com/one";
    expect(problem({ $id, type: "string" }, 1)).toBe("must be string");
    expect(problem({ $id, type: "number" }, "1")).toBe("must be number");
    expect(problem({ $id, type: "object", properties: { a: { $ref: "#" } } }, { a: 1 })).toBe(
      "a: must be object",
    );
  });

  test("two schemas may hold one $id inside of them", () => {
    const inner = (type: string) => ({ properties: { a: { $id: "https://example.com/inner", type } } });
    expect(problem(inner("string"), { a: 1 })).toBe("a: must be string");
    expect(problem(inner("number"), { a: "1" })).toBe("a: must be number");
  });
});

describe("limits", () => {
  const deep = (levels: number): JsonSchema =>
    levels === 1 ? { type: "string" } : { properties: { a: deep(levels - 1) } };
  /** Each level of `deep` is two objects: the schema and its `properties`. */
  const objectsDeep = (objects: number): JsonSchema =>
    objects === 1 ? {} : { not: objectsDeep(objects - 1) };

  /** The limit that a schema passes, with the default limits or some of others. */
  function limitPassed(schema: JsonSchema, limits = {}): unknown {
    try {
      compileSchema(schema, { ...DEFAULT_SCHEMA_LIMITS, ...limits });
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(ProtocolError);
      const { limit, value } = (thrown as ProtocolError).data as { limit: string; value: number };
      expect((thrown as ProtocolError).message).toContain(`${limit} (${value})`);
      return limit;
    }
    return undefined;
  }

  test("depth", () => {
    expect(limitPassed(objectsDeep(64))).toBeUndefined();
    expect(limitPassed(objectsDeep(65))).toBe("maxSchemaDepth");
    expect(limitPassed(deep(3), { maxSchemaDepth: 5 })).toBeUndefined();
    expect(limitPassed(deep(3), { maxSchemaDepth: 4 })).toBe("maxSchemaDepth");
  });

  test("a schema that holds itself is too deep", () => {
    const schema: JsonSchema = {};
    schema.not = schema;
    expect(limitPassed(schema)).toBe("maxSchemaDepth");
  });

  test("size", () => {
    const wide = (count: number) => ({ anyOf: Array.from({ length: count }, () => ({ type: "string" })) });
    expect(limitPassed(wide(8), { maxSubschemas: 10 })).toBeUndefined();
    expect(limitPassed(wide(9), { maxSubschemas: 10 })).toBe("maxSubschemas");
    expect(limitPassed(wide(10_000))).toBe("maxSubschemas");
  });

  test("patterns, wherever they stand", () => {
    const long = "a".repeat(513);
    expect(limitPassed({ pattern: long.slice(1) })).toBeUndefined();
    expect(limitPassed({ pattern: long })).toBe("maxPatternLength");
    expect(limitPassed({ properties: { a: { pattern: long } } })).toBe("maxPatternLength");
    expect(limitPassed({ patternProperties: { [long]: {} } })).toBe("maxPatternLength");
  });
});

test("what an object inherits is no property of it", () => {
  const required = compileSchema({ type: "object", required: ["constructor"] });
  expect(required({})).toEqual([{ path: "constructor", message: "is required" }]);
  expect(required({ constructor: 1 })).toBeUndefined();
  const closed = compileSchema({
    type: "object",
    properties: { toString: { type: "string" } },
    additionalProperties: false,
  });
  expect(closed({})).toBeUndefined();
});

test("a schema can be checked without being compiled", () => {
  expect(() => checkSchema({ type: "object", properties: { a: { minLength: 1 } } })).not.toThrow();
  expect(() => checkSchema({ properties: { a: { type: "strng" } } })).toThrow(
    "properties.a.type must be one of",
  );
  expect(() => checkSchema({ $ref: "https://example.com/a" })).toThrow("points outside the schema");
  expect(() => checkSchema({ $schema: "http://json-schema.org/draft-04/schema#" })).toThrow(
    "is not supported",
  );
  expect(() => checkSchema({ pattern: "x".repeat(600) })).toThrow("maxPatternLength");
});
