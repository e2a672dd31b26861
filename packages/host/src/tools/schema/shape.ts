/** What a JSON Schema says, with references put in place and `allOf` merged: the form in which schemas are combined. */

import { isObject } from "@patchbay/core";
import type { References } from "./references.ts";

export type TypeName = "string" | "number" | "integer" | "boolean" | "null" | "object" | "array";

/** Each part that is missing says nothing: an empty shape takes any value. */
export interface Shape {
  /** Takes no value at all. */
  never?: true;
  types?: ReadonlySet<TypeName>;
  enum?: readonly unknown[];
  /** Keywords that stand for themselves: `minLength`, `format`, … */
  limits: Readonly<Record<string, unknown>>;
  properties?: ReadonlyMap<string, Shape>;
  required?: ReadonlySet<string>;
  /** Of properties that are not named: `false`, or their shape. */
  additional?: Shape | false;
  items?: Shape;
  /** At least two. A value fits one of them, and all else that is said here. */
  anyOf?: readonly Shape[];
  title?: string;
  description?: string;
  /** Keywords that have no place in a shape, for people to read. */
  lost: readonly string[];
}

export const ANY: Shape = { limits: {}, lost: [] };
const NEVER: Shape = { never: true, limits: {}, lost: [] };

const LIMITS = [
  "format",
  "minLength",
  "maxLength",
  "pattern",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "default",
];
/** What has no place in a shape. */
const UNTOLD = new Set([
  ...["not", "if", "contains", "minContains", "maxContains", "prefixItems", "additionalItems"],
  ...["patternProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems"],
  ...["dependentRequired", "dependentSchemas", "dependencies", "contentMediaType", "contentEncoding"],
  ...["contentSchema", "$dynamicRef", "$recursiveRef"],
]);

/** Reads a schema. It is valid, and bounded in depth (`compileSchema` has seen to it). */
export function readShape(schema: unknown, references: References): Shape {
  references.count();
  if (schema === false) return NEVER;
  if (!isObject(schema)) return ANY;
  const read = (inner: unknown) => readShape(inner, references);
  let shape = readOwn(schema, read);
  if (typeof schema.$ref === "string") {
    const { $ref: reference } = schema;
    const target = references.follow(reference);
    if (target === undefined) {
      shape = meet(
        losing(shape, `what ${reference.slice(0, 100)} says`),
        typesOf(references.peek(reference)),
      );
    } else shape = meet(shape, readShape(target.schema, target.references));
  }
  for (const part of listOf(schema.allOf)) shape = meet(shape, read(part));
  for (const keyword of ["anyOf", "oneOf"] as const) {
    const alternatives = listOf(schema[keyword]).map(read);
    if (alternatives.length > 0) shape = meet(shape, either(alternatives));
  }
  // What may have to be there in some case is told of, and asked of nobody.
  const sometimes = [schema.then, schema.else, ...schemasIn(schema.dependentSchemas)].filter(isObject);
  for (const part of sometimes) shape = withOptional(shape, read(part));
  return shape;
}

/** Of a schema that is not followed, the types that it names itself. */
function typesOf(schema: unknown): Shape {
  if (!isObject(schema) || schema.type === undefined) return ANY;
  return { ...ANY, types: new Set([schema.type].flat() as TypeName[]) };
}

function readOwn(schema: Record<string, unknown>, read: (schema: unknown) => Shape): Shape {
  const limits: Record<string, unknown> = {};
  for (const keyword of LIMITS) if (schema[keyword] !== undefined) limits[keyword] = schema[keyword];
  const lost = Object.keys(schema).filter((keyword) => UNTOLD.has(keyword));
  const shape: { -readonly [Part in keyof Shape]: Shape[Part] } = { limits, lost };
  if (schema.type !== undefined) shape.types = new Set([schema.type].flat() as TypeName[]);
  if (Array.isArray(schema.enum)) shape.enum = schema.enum;
  if (schema.const !== undefined) shape.enum = [schema.const];
  if (isObject(schema.properties)) {
    shape.properties = new Map(Object.entries(schema.properties).map(([name, each]) => [name, read(each)]));
  }
  if (Array.isArray(schema.required)) shape.required = new Set(schema.required as string[]);
  if (schema.additionalProperties === false) {
    // Names that a pattern allows would be shut out.
    if (schema.patternProperties === undefined) shape.additional = false;
  } else if (isObject(schema.additionalProperties)) shape.additional = read(schema.additionalProperties);
  else if (isObject(schema.patternProperties) && schema.properties === undefined) {
    shape.additional = either(Object.values(schema.patternProperties).map(read));
  }
  const first = listOf(schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : [])).map(read);
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
  if (first.length > 0) {
    if (!lost.includes("prefixItems")) shape.lost = [...lost, "items as a list"];
    shape.items = rest === false ? join(first) : join([...first, read(rest ?? true)]);
  } else if (rest !== undefined) shape.items = read(rest);
  if (typeof schema.title === "string") shape.title = schema.title;
  if (typeof schema.description === "string") shape.description = schema.description;
  return shape;
}

/** One of several. */
export function either(shapes: readonly Shape[]): Shape {
  const possible = shapes
    .filter(({ never }) => never !== true)
    .flatMap((each) => (isOnlyAlternatives(each) ? (each.anyOf ?? []) : [each]));
  if (possible.length === 0) return NEVER;
  if (possible.length === 1) return possible[0] as Shape;
  if (possible.every(isPlain)) return join(possible);
  return { anyOf: possible, limits: {}, lost: [] };
}

function isOnlyAlternatives({ anyOf, ...rest }: Shape): boolean {
  return anyOf !== undefined && Object.keys(rest).length === 2 && Object.keys(rest.limits).length === 0;
}

/** Says nothing but types, or nothing but values: such alternatives lose nothing when they become one. */
function isPlain(shape: Shape): boolean {
  const { types, enum: values, limits, lost, ...rest } = shape;
  return (
    Object.keys(rest).length === 0 &&
    Object.keys(limits).length === 0 &&
    lost.length === 0 &&
    values === undefined &&
    types !== undefined
  );
}

/** Both: takes at least what both take. Where two say different things of the same, the first is kept. */
export function meet(a: Shape, b: Shape): Shape {
  if (a.never || b.never) return NEVER;
  const lost = [...a.lost, ...b.lost];
  const types = meetTypes(a.types, b.types);
  if (types?.size === 0) return NEVER;
  const values =
    a.enum && b.enum ? a.enum.filter((value) => includes(b.enum ?? [], value)) : (a.enum ?? b.enum);
  if (values?.length === 0) return NEVER;
  for (const [keyword, value] of Object.entries(b.limits)) {
    const own = a.limits[keyword];
    if (own !== undefined && keyword !== "default" && !isSame(own, value))
      lost.push(`the second of two ${keyword}`);
  }
  let anyOf = a.anyOf ?? b.anyOf;
  if (a.anyOf !== undefined && b.anyOf !== undefined) {
    lost.push("which of two sets of alternatives go together");
    return meet({ ...a, lost }, { ...joined(b, b.anyOf), lost: [] });
  }
  if (anyOf !== undefined && anyOf.length < 2) anyOf = undefined;
  return defined({
    types,
    enum: values,
    limits: { ...b.limits, ...a.limits },
    properties: meetProperties(a.properties, b.properties),
    required: a.required && b.required ? new Set([...a.required, ...b.required]) : (a.required ?? b.required),
    additional: a.additional ?? b.additional,
    items: a.items && b.items ? meet(a.items, b.items) : (a.items ?? b.items),
    anyOf,
    title: a.title ?? b.title,
    description: a.description ?? b.description,
    lost,
  });
}

function meetTypes(a: Shape["types"], b: Shape["types"]): Shape["types"] {
  if (a === undefined || b === undefined) return a ?? b;
  const both = new Set<TypeName>();
  for (const type of a) if (b.has(type) || (type === "integer" && b.has("number"))) both.add(type);
  for (const type of b) if (type === "integer" && a.has("number")) both.add(type);
  return both;
}

function meetProperties(a: Shape["properties"], b: Shape["properties"]): Shape["properties"] {
  if (a === undefined || b === undefined) return a ?? b;
  const both = new Map(a);
  for (const [name, shape] of b) {
    const own = both.get(name);
    both.set(name, own === undefined ? shape : meet(own, shape));
  }
  return both;
}

/** One shape that takes what any of them takes, as far as they name it. */
export function join(shapes: readonly Shape[]): Shape {
  const [first, ...others] = shapes
    .filter(({ never }) => never !== true)
    .map((shape) => (shape.anyOf === undefined ? shape : joined(shape, shape.anyOf)));
  if (first === undefined) return NEVER;
  return others.reduce(joinTwo, first);
}

function joined(shape: Shape, anyOf: readonly Shape[]): Shape {
  const base = without(shape, "anyOf");
  return join(anyOf.map((each) => meet(base, each)));
}

function joinTwo(a: Shape, b: Shape): Shape {
  const limits: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries({ ...b.limits, ...a.limits })) {
    if (isSame(a.limits[keyword], b.limits[keyword])) limits[keyword] = value;
  }
  const of = (type: TypeName) => [a, b].filter((shape) => mayBe(shape, type));
  const objects = of("object");
  const arrays = of("array").map(({ items }) => items);
  const properties = new Map<string, Shape>();
  for (const shape of objects) {
    for (const [name, each] of shape.properties ?? []) {
      const own = properties.get(name);
      properties.set(name, own === undefined ? each : join([own, each]));
    }
    for (const name of shape.required ?? []) if (!properties.has(name)) properties.set(name, ANY);
  }
  const required = objects.map((shape) => [...(shape.required ?? [])]);
  const closed = objects.length > 0 && objects.every(({ additional }) => additional === false);
  const open = objects.map(({ additional }) => additional);
  const about = [a.description, b.description].filter((text) => text !== undefined && text !== "");
  return defined({
    types: joinTypes(a, b),
    enum: a.enum && b.enum && distinct([...a.enum, ...b.enum]),
    limits,
    properties: properties.size > 0 ? properties : undefined,
    required: intersection(required),
    additional: closed
      ? false
      : open.length === 1
        ? open[0] || undefined
        : open.every((each) => each)
          ? join(open as Shape[])
          : undefined,
    items: arrays.every((each) => each !== undefined) && arrays.length > 0 ? join(arrays) : undefined,
    title: a.title === b.title ? a.title : undefined,
    description: about.length === 0 ? undefined : [...new Set(about)].join("; or: ").slice(0, 2_000),
    lost: [...a.lost, ...b.lost],
  });
}

const ALL_TYPES: ReadonlySet<TypeName> = new Set(["string", "number", "boolean", "null", "object", "array"]);

/** All, where one of them takes any: what the other says of objects must not make it one. */
function joinTypes(a: Shape, b: Shape): ReadonlySet<TypeName> {
  const first = a.types ?? impliedTypes(a);
  const second = b.types ?? impliedTypes(b);
  if (first === undefined || second === undefined) return ALL_TYPES;
  const all = new Set([...first, ...second]);
  if (all.has("number")) all.delete("integer");
  return all;
}

/** Whether it takes values of a type; one that names none takes what its keywords and values are about. */
export function mayBe(shape: Shape, type: TypeName): boolean {
  const types = shape.types ?? impliedTypes(shape);
  return types === undefined || types.has(type);
}

const ABOUT: Record<string, TypeName[]> = {
  format: ["string"],
  minLength: ["string"],
  maxLength: ["string"],
  pattern: ["string"],
  minimum: ["number"],
  maximum: ["number"],
  exclusiveMinimum: ["number"],
  exclusiveMaximum: ["number"],
  multipleOf: ["number"],
  minItems: ["array"],
  maxItems: ["array"],
  uniqueItems: ["array"],
  minProperties: ["object"],
  maxProperties: ["object"],
};

/** The types that a schema without `type` is about; nothing where it is about any. */
export function impliedTypes({
  enum: values,
  limits,
  properties,
  required,
  additional,
  items,
}: Shape): Set<TypeName> | undefined {
  if (values !== undefined) return new Set(values.map(typeOf));
  const types = new Set(Object.keys(limits).flatMap((keyword) => ABOUT[keyword] ?? []));
  if (properties ?? required ?? additional !== undefined) types.add("object");
  if (items !== undefined) types.add("array");
  return types.size === 0 ? undefined : types;
}

export function typeOf(value: unknown): TypeName {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value as TypeName;
}

/** Adds what a case would add to the properties, as something that need not be there. */
function withOptional(shape: Shape, part: Shape): Shape {
  const properties = new Map(shape.properties);
  for (const [name, each] of part.properties ?? []) if (!properties.has(name)) properties.set(name, each);
  return properties.size === 0 ? shape : { ...shape, properties };
}

export function without<Part extends keyof Shape>(shape: Shape, part: Part): Omit<Shape, Part> {
  const { [part]: _, ...rest } = shape;
  return rest;
}

function losing(shape: Shape, what: string): Shape {
  return { ...shape, lost: [...shape.lost, what] };
}

function defined(parts: { [Part in keyof Shape]: Shape[Part] | undefined }): Shape {
  return Object.fromEntries(
    Object.entries(parts).filter(([, value]) => value !== undefined),
  ) as unknown as Shape;
}

function intersection(lists: readonly string[][]): ReadonlySet<string> | undefined {
  const [first = [], ...others] = lists;
  const all = first.filter((name) => others.every((list) => list.includes(name)));
  return all.length === 0 ? undefined : new Set(all);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function schemasIn(value: unknown): unknown[] {
  return isObject(value) ? Object.values(value) : [];
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (a !== undefined && b !== undefined && JSON.stringify(a) === JSON.stringify(b));
}

function includes(values: readonly unknown[], value: unknown): boolean {
  return values.some((each) => isSame(each, value));
}

function distinct(values: readonly unknown[]): unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
