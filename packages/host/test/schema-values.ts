/** Schemas of every kind, with values that they describe; and a value as a model would write it for a lowered schema. */

import type { JsonSchema } from "@patchbay/core";
import { compileSchema } from "@patchbay/core/schema";
import fc from "fast-check";
import { markOf } from "../src/tools/schema/restore.ts";

/** A schema, and what makes values of which most fit it. */
interface Made {
  schema: JsonSchema | boolean;
  value: fc.Arbitrary<unknown>;
}

const NAMES = fc.constantFrom(
  "a",
  "b",
  "city",
  "filter[id]",
  "$top",
  "max-results",
  "1st",
  "_x",
  "type",
  "properties",
);
const TEXT = fc.constantFrom("", "a", "north", "2026-01-01", "x".repeat(70));

const about = fc.record(
  { description: TEXT, title: TEXT, default: fc.constantFrom(1, "a", null) },
  { requiredKeys: [] },
);

function plain(): fc.Arbitrary<Made> {
  return fc.oneof(
    fc
      .record(
        {
          minLength: fc.nat(3),
          maxLength: fc.integer({ min: 3, max: 90 }),
          format: fc.constantFrom("uri", "date-time", "x"),
        },
        { requiredKeys: [] },
      )
      .map((limits): Made => ({ schema: { type: "string", ...limits }, value: TEXT })),
    fc
      .record(
        {
          minimum: fc.nat(3),
          exclusiveMaximum: fc.integer({ min: 4, max: 9 }),
          multipleOf: fc.constant(1),
          format: fc.constantFrom("int32", "x"),
        },
        { requiredKeys: [] },
      )
      .map(
        (limits): Made => ({ schema: { type: "integer", ...limits }, value: fc.integer({ min: 0, max: 9 }) }),
      ),
    fc.constant<Made>({ schema: { type: "number" }, value: fc.constantFrom(0.5, 3, -1) }),
    fc.constant<Made>({ schema: { type: "boolean" }, value: fc.boolean() }),
    fc.constant<Made>({ schema: { type: "null" }, value: fc.constant(null) }),
    fc.constant<Made>({ schema: { type: ["string", "null"] }, value: fc.oneof(TEXT, fc.constant(null)) }),
    fc.constant<Made>({
      schema: { type: ["integer", "string", "array"] },
      value: fc.constantFrom(7, "a", ["b"]),
    }),
    fc.constant<Made>({ schema: {}, value: fc.jsonValue({ maxDepth: 2 }) }),
    fc.constant<Made>({ schema: true, value: fc.jsonValue({ maxDepth: 1 }) }),
    fc.constant<Made>({
      schema: { type: "object" },
      value: fc.dictionary(fc.constantFrom("k", "l"), fc.integer()),
    }),
    fc.constant<Made>({
      schema: { type: "object", additionalProperties: { type: "integer" } },
      value: fc.dictionary(fc.constantFrom("k", "l"), fc.integer()),
    }),
    fc.constant<Made>({
      schema: { type: "array" },
      value: fc.array(fc.constantFrom(1, "a", null), { maxLength: 2 }),
    }),
    fc.constant<Made>({
      schema: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }] },
      value: fc.constantFrom(["a", 1], ["b"], []),
    }),
    fc
      .uniqueArray(fc.constantFrom("a", "b", "", 1, 2.5, null, true), { minLength: 1, maxLength: 4 })
      .map((values): Made => ({ schema: { enum: values }, value: fc.constantFrom(...values) })),
    fc
      .constantFrom("a", 1, null, false)
      .map((value): Made => ({ schema: { const: value }, value: fc.constant(value) })),
    fc.constant<Made>({ schema: { $ref: "#/$defs/tree" }, value: tree(3) }),
    fc.constant<Made>({
      schema: { $ref: "#/$defs/unit", description: "as above" },
      value: fc.constantFrom("m", "ft"),
    }),
  );
}

function tree(depth: number): fc.Arbitrary<unknown> {
  const leaf = fc.record({ label: TEXT });
  return depth === 0
    ? leaf
    : fc.oneof(leaf, fc.record({ label: TEXT, children: fc.array(tree(depth - 1), { maxLength: 2 }) }));
}

const DEFINITIONS = {
  tree: {
    type: "object",
    properties: { label: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/tree" } } },
    required: ["label"],
  },
  unit: { enum: ["m", "ft"] },
};

function objectOf(inner: fc.Arbitrary<Made>): fc.Arbitrary<Made> {
  return fc
    .tuple(
      fc.uniqueArray(fc.tuple(NAMES, inner), { selector: ([name]) => name, maxLength: 4 }),
      fc.constantFrom(undefined, false),
      fc.nat(4),
    )
    .map(([members, additionalProperties, count]): Made => {
      const required = members.slice(0, count).map(([name]) => name);
      const model = Object.fromEntries(members.map(([name, { value }]) => [name, value]));
      return {
        schema: {
          type: "object",
          properties: Object.fromEntries(members.map(([name, { schema }]) => [name, schema])),
          ...(required.length === 0 ? {} : { required }),
          ...(additionalProperties === undefined ? {} : { additionalProperties }),
        },
        value: fc.record(model, { requiredKeys: required }),
      };
    });
}

function nested(depth: number): fc.Arbitrary<Made> {
  if (depth === 0) return plain();
  const inner = nested(depth - 1);
  const several = fc.array(inner, { minLength: 1, maxLength: 3 });
  return fc.oneof(
    { weight: 4, arbitrary: plain() },
    { weight: 3, arbitrary: objectOf(inner) },
    inner.map(
      ({ schema, value }): Made => ({
        schema: { type: "array", items: schema },
        value: fc.array(value, { maxLength: 2 }),
      }),
    ),
    fc.tuple(fc.constantFrom("anyOf", "oneOf"), several, about).map(
      ([keyword, made, more]): Made => ({
        schema: { ...more, [keyword]: made.map(({ schema }) => schema) },
        value: fc.oneof(...made.map(({ value }) => value)),
      }),
    ),
    fc.tuple(objectOf(inner), objectOf(inner)).map(
      ([a, b]): Made => ({
        schema: { allOf: [a.schema, b.schema] },
        value: fc
          .tuple(a.value, b.value)
          .map(([one, other]) => ({ ...(other as object), ...(one as object) })),
      }),
    ),
    fc.tuple(inner, about).map(
      ([{ schema, value }, more]): Made => ({
        schema: typeof schema === "boolean" ? schema : { ...more, ...schema },
        value,
      }),
    ),
    inner.map(({ schema, value }): Made => ({ schema: { allOf: [schema], not: { const: "never" } }, value })),
  );
}

/** A tool's schema and four values of which most fit it. */
export function schemaWithValues(): fc.Arbitrary<{ schema: JsonSchema; values: unknown[] }> {
  const root = fc.oneof(
    { weight: 3, arbitrary: objectOf(nested(2)) },
    fc
      .tuple(
        objectOf(nested(1)),
        fc.array(objectOf(nested(1)), { minLength: 1, maxLength: 3 }),
        fc.constantFrom("anyOf", "oneOf"),
      )
      .map(
        ([base, made, keyword]): Made => ({
          schema: { ...(base.schema as JsonSchema), [keyword]: made.map(({ schema }) => schema) },
          value: fc
            .tuple(base.value, fc.oneof(...made.map(({ value }) => value)))
            .map(([one, other]) => ({ ...(other as object), ...(one as object) })),
        }),
      ),
  );
  return root.chain(({ schema, value }) =>
    fc.array(value, { minLength: 4, maxLength: 4 }).map((values) => ({
      schema: {
        ...(schema as JsonSchema),
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $defs: DEFINITIONS,
      },
      values: values.map((each) => JSON.parse(JSON.stringify(each))),
    })),
  );
}

/** The value as a model writes it where names or values have to be written otherwise. */
export function written(schema: JsonSchema, value: unknown): unknown {
  return write(value, schema, schema);
}

function write(value: unknown, node: unknown, root: JsonSchema): unknown {
  if (typeof node !== "object" || node === null) return value;
  const schema = node as JsonSchema;
  if (schema.nullable === true && value === null) return value;
  const parts = partsOf(value, schema, root);
  const json = parts.map((part) => markOf(part).json).find((mark) => mark !== undefined);
  if (json !== undefined)
    return json === "any" || fits(value, { type: [...json] }, root) ? JSON.stringify(value) : value;
  if (Array.isArray(value)) {
    const items = parts.flatMap((part) => (part.items === undefined ? [] : [part.items]));
    return value.map((inner) => write(inner, { allOf: items }, root));
  }
  if (typeof value !== "object" || value === null) return value;
  const forth = new Map(
    parts.flatMap((part) => Array.from(markOf(part).names ?? [], ([sent, own]) => [own, sent])),
  );
  const entries = Object.entries(value).map(([name, inner]) => {
    const sent = forth.get(name) ?? name;
    const schemas = parts.flatMap(({ properties }) =>
      Object.hasOwn(properties ?? {}, sent) ? [(properties as Record<string, unknown>)[sent]] : [],
    );
    return [sent, write(inner, { allOf: schemas }, root)];
  });
  return Object.fromEntries(entries);
}

/** The schemas that speak of a value; of alternatives the one that it fits once written, and that names most of it. */
function partsOf(value: unknown, schema: JsonSchema, root: JsonSchema): JsonSchema[] {
  const parts: JsonSchema[] = [];
  const pending: unknown[] = [schema];
  while (pending.length > 0) {
    const part = pending.pop() as JsonSchema;
    if (typeof part !== "object" || parts.includes(part)) continue;
    parts.push(part);
    pending.push(...((part.allOf ?? []) as unknown[]));
    if (typeof part.$ref === "string") {
      pending.push((root.$defs as Record<string, unknown>)[part.$ref.slice("#/$defs/".length)]);
    }
    const named = (each: unknown) =>
      Object.keys((each as JsonSchema).properties ?? {}).filter((name) => Object.hasOwn(Object(value), name))
        .length;
    const fitting = ((part.anyOf ?? part.oneOf ?? []) as JsonSchema[])
      .filter((each) => fits(write(value, each, root), each, root))
      .sort((a, b) => named(b) - named(a));
    if (fitting[0] !== undefined) pending.push(fitting[0]);
  }
  return parts;
}

/** To compile takes longer than all else. */
const checks = new WeakMap<object, ReturnType<typeof compileSchema>>();

function fits(value: unknown, schema: JsonSchema | boolean, root: JsonSchema): boolean {
  if (typeof schema === "boolean") return schema;
  const check = checks.get(schema) ?? compileSchema({ ...schema, $defs: root.$defs ?? {} });
  checks.set(schema, check);
  return check(value) === undefined;
}

/**
 * The same schema, for values that hold what it describes and nothing else: a property that no part which fits
 * speaks of is none of a tool's arguments, though a schema that is silent about it allows it.
 */
export function described(schema: JsonSchema): JsonSchema {
  return closed(schema) as JsonSchema;
}

function closed(node: unknown): unknown {
  if (typeof node !== "object" || node === null) return node;
  const inner = inPlace(node as JsonSchema);
  return speaks(node as JsonSchema) ? { ...inner, unevaluatedProperties: false } : inner;
}

/** Closes what is below the parts that speak of the same value, not these themselves. */
function inPlace(schema: JsonSchema): JsonSchema {
  const copy: JsonSchema = { ...schema };
  for (const keyword of ["properties", "$defs"]) {
    if (schema[keyword] === undefined) continue;
    copy[keyword] = Object.fromEntries(
      Object.entries(schema[keyword] as object).map(([name, inner]) => [
        name,
        keyword === "$defs" ? inPlace(inner) : closed(inner),
      ]),
    );
  }
  if (schema.items !== undefined) copy.items = closed(schema.items);
  for (const keyword of ["anyOf", "oneOf", "allOf"]) {
    if (!Array.isArray(schema[keyword])) continue;
    copy[keyword] = schema[keyword].map((part) => (typeof part === "object" ? inPlace(part) : part));
  }
  return copy;
}

function speaks(schema: JsonSchema): boolean {
  if (schema.properties !== undefined) return true;
  return [schema.anyOf, schema.oneOf, schema.allOf].some(
    (parts) => Array.isArray(parts) && parts.some((part) => typeof part === "object" && speaks(part)),
  );
}
