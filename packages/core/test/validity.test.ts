/** What is a valid schema, decided as the metaschema decides it. */

import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonSchema } from "../src/schema/json-schema.ts";
import { type Dialect, invalidity } from "../src/schema/validity.ts";

const OPTIONS = { strict: false, validateFormats: false, logger: false } as const;
const METASCHEMAS: Record<Dialect, Ajv> = { "2020-12": new Ajv2020(OPTIONS), "draft-07": new Ajv(OPTIONS) };

/** All keywords that either metaschema knows, some of other drafts, and one of nobody. */
const KEYWORDS = (
  "$id $schema $ref $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary $comment $defs " +
  "definitions dependencies prefixItems items additionalItems contains additionalProperties properties " +
  "patternProperties dependentSchemas dependentRequired propertyNames if then else allOf anyOf oneOf not " +
  "unevaluatedItems unevaluatedProperties type const enum multipleOf maximum exclusiveMaximum minimum " +
  "exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems maxContains minContains " +
  "maxProperties minProperties required title description default deprecated readOnly writeOnly examples format " +
  "contentMediaType contentEncoding contentSchema x-mine constructor"
).split(" ");

const plain = fc.oneof(
  fc.constantFrom(
    "string",
    "object",
    "a",
    "",
    "#a",
    "a#b",
    "a#",
    "1a",
    "a b",
    null,
    true,
    false,
    0,
    -1,
    1,
    1.5,
  ),
  fc.constantFrom(
    [],
    [1],
    ["a"],
    ["a", "a"],
    ["a", "b"],
    ["string", "null"],
    ["string", "string"],
    {},
    { a: 1 },
  ),
  fc.constantFrom({ a: "b" }, { a: ["b"] }, { a: ["b", "b"] }, { a: true }, [true], [{}], [[]], [5]),
);
const schemas: fc.Arbitrary<JsonSchema> = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc.dictionary(
    fc.constantFrom(...KEYWORDS),
    fc.oneof(
      { maxDepth: 3 },
      { weight: 4, arbitrary: plain },
      tie("schema"),
      fc.array(tie("schema"), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom("a", "b"), tie("schema"), { maxKeys: 2, noNullPrototype: true }),
    ),
    { maxKeys: 3, noNullPrototype: true },
  ) as fc.Arbitrary<JsonSchema>,
})).schema;

describe.each<Dialect>(["2020-12", "draft-07"])("%s", (dialect) => {
  const metaschema = METASCHEMAS[dialect];
  const agreesOn = (schema: JsonSchema) => {
    const { $schema: _, ...bare } = schema;
    expect([bare, invalidity(bare, dialect) === undefined]).toEqual([bare, metaschema.validateSchema(bare)]);
  };

  test.each(KEYWORDS)("%s", (keyword) => {
    fc.assert(
      fc.property(plain, (value) => agreesOn({ [keyword]: value })),
      { numRuns: 200 },
    );
  });

  test("schemas inside schemas", () => {
    fc.assert(fc.property(schemas, agreesOn), { numRuns: 2000 });
  });
});

test("the place is told", () => {
  expect(invalidity({ properties: { a: { minLength: -1 } } }, "2020-12")).toBe(
    "properties.a.minLength must be a whole number from 0",
  );
  expect(invalidity({ anyOf: [true, 5] }, "2020-12")).toBe(
    "anyOf[1] must be a schema: an object, true or false",
  );
});
