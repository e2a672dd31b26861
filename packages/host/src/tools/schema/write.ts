/** Writes a shape as JSON Schema of the keywords that a provider takes; what it cannot say is told in a description. */

import type { JsonSchema } from "@patchbay/core";
import { allowedNames } from "./property-names.ts";
import { markJson, markNames } from "./restore.ts";
import { rewriting, SCHEMA_RULES, type SchemaRules } from "./rules.ts";
import { ANY, impliedTypes, join, meet, type Shape, type TypeName, typeOf, without } from "./shape.ts";

export interface Writing {
  rules: SchemaRules & { keywords: ReadonlySet<string> };
  /** What is no longer said, for people to read: `days: minimum`. */
  lost: string[];
}

type Written = Record<string, unknown>;

const MAX_ALTERNATIVES = 16;
/** Characters of what a description tells of what the schema cannot say. */
const MAX_TOLD = 300;
/** How many there are; `integer` is a `number`, too. */
const TYPES = 6;

/** Writes the root: an object, without alternatives, as every provider wants it. */
export function writeRoot(shape: Shape, writing: Writing): JsonSchema {
  let root = shape;
  if (shape.anyOf !== undefined) {
    writing.lost.push("which of the alternatives at the root belong together");
    const base = without(shape, "anyOf");
    // First with what is said of all of them: an alternative that does not fit it is none.
    root = join(shape.anyOf.map((each) => meet(base, { ...each, lost: [] })));
  }
  const object: Shape = { ...without(root, "never"), types: new Set<TypeName>(["object"]), enum: undefined };
  return writeOne(object, "object", "", writing);
}

/** Writes a schema below the root. */
function write(shape: Shape, path: string, writing: Writing): Written {
  const { rules, lost } = writing;
  if (shape.never === true) {
    lost.push(`${path}: that it takes no value`);
    return write(ANY, path, writing);
  }
  if (shape.anyOf !== undefined) return writeAlternatives(shape, shape.anyOf, path, writing);
  const types = simple(shape.types ?? (rules.typeLists ? undefined : impliedTypes(shape)));
  const [only, ...more] = types ?? [];
  if (only !== undefined && more.length === 0) return writeOne(shape, only, path, writing);
  if (rules.typeLists) {
    if (types === undefined || types.length >= TYPES) return writeOne(shape, undefined, path, writing);
    return writeOne(shape, types, path, writing);
  }
  if (types === undefined || types.length >= TYPES) return jsonText(shape, "any", path, writing);
  const alternatives = types.map((type) => ({ ...shape, types: new Set([type]) }));
  return writeAlternatives({ ...ANY, ...about(shape) }, alternatives, path, writing);
}

function simple(types: ReadonlySet<TypeName> | undefined): TypeName[] | undefined {
  if (types === undefined) return undefined;
  return [...types].filter((type) => type !== "integer" || !types.has("number"));
}

function about({ title, description }: Shape): Pick<Shape, "title" | "description"> {
  return { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
}

function writeAlternatives(shape: Shape, anyOf: readonly Shape[], path: string, writing: Writing): Written {
  const { rules, lost } = writing;
  const { title: _, description, ...base } = without(shape, "anyOf");
  const possible = anyOf.map((each) => meet(each, { ...base, lost: [] })).filter(({ never }) => !never);
  for (const what of base.lost) lost.push(`${path}: ${what}`);
  if (!rules.anyOf || possible.length > MAX_ALTERNATIVES) {
    lost.push(`${path}: which of the alternatives belong together`);
    return write({ ...join(possible), ...about(shape) }, path, writing);
  }
  const isNull = ({ types }: Shape) => types?.size === 1 && types.has("null");
  const nullable = !rules.typeLists && possible.some(isNull);
  const others = nullable ? possible.filter((each) => !isNull(each)) : possible;
  const [first, ...rest] = others;
  if (first === undefined) return write({ ...ANY, ...about(shape), types: new Set(["null"]) }, path, writing);
  if (rest.length === 0) {
    const one = write({ ...first, ...about(shape) }, path, writing);
    return nullable ? withNull(one) : one;
  }
  const written = others.map((each) => write(each, path, writing)).flatMap(alternativesIn);
  if (rules.typeLists) return { ...(description === undefined ? {} : { description }), anyOf: written };
  // Nothing may stand beside anyOf: what is said of all of them is said of the first.
  const [head = {}, ...tail] = written;
  const said = [description, head.description].filter((text) => text !== undefined).join(" ");
  if (said !== "") head.description = said;
  if (nullable) head.nullable = true;
  return { anyOf: [head, ...tail] };
}

function alternativesIn(written: Written): Written[] {
  return Array.isArray(written.anyOf) && Object.keys(written).length === 1
    ? (written.anyOf as Written[])
    : [written];
}

function withNull(written: Written): Written {
  const [first] = alternativesIn(written);
  if (first !== undefined) first.nullable = true;
  return written;
}

/** Writes a schema of one type, of several in a list, or of none. */
function writeOne(
  shape: Shape,
  type: TypeName | readonly TypeName[] | undefined,
  path: string,
  writing: Writing,
): Written {
  const { rules, lost } = writing;
  if (type === "null" && !rules.typeLists) {
    return { type: "string", nullable: true, description: [shape.description, "(null)"].join(" ").trim() };
  }
  const types = type === undefined ? undefined : [type].flat();
  const takes = (each: TypeName) => types?.includes(each) ?? false;
  const isRoot = path === "";
  if (!rules.openValues && type === "object" && !isRoot && namesOf(shape).length === 0) {
    return jsonText(shape, new Set(["object"]), path, writing);
  }
  const written: Written = {};
  const told: Written = {};
  for (const what of shape.lost) lost.push(at(path, what));
  if (types !== undefined) written.type = types.length === 1 ? types[0] : types;
  writeValues(shape, types, path, written, told, writing);
  for (const [keyword, value] of Object.entries(shape.limits)) {
    if (keyword !== "default" && types !== undefined && !concerns(keyword, types)) continue;
    const known =
      rules.keywords.has(keyword) && (keyword !== "format" || isKnownFormat(value, types, rules.formats));
    if (known) written[keyword] = value;
    else told[keyword] = value;
  }
  if (takes("object") || (types === undefined && shape.properties !== undefined)) {
    writeProperties(shape, path, written, writing);
  }
  if (takes("array") || (types === undefined && shape.items !== undefined)) {
    written.items = write(shape.items ?? ANY, `${path}[]`, writing);
  }
  for (const keyword of Object.keys(told)) lost.push(at(path, keyword));
  const description = describe(shape, told, rules);
  if (description !== "") written.description = description;
  if (shape.title !== undefined && rules.keywords.has("title")) written.title = shape.title;
  return written;
}

function at(path: string, what: string): string {
  return path === "" ? what : `${path}: ${what}`;
}

function writeValues(
  { enum: values }: Shape,
  types: readonly TypeName[] | undefined,
  path: string,
  written: Written,
  told: Written,
  { rules }: Writing,
): void {
  if (values === undefined) return;
  const fitting = values.filter(
    (value) =>
      types === undefined ||
      types.includes(typeOf(value)) ||
      (typeof value === "number" && types.includes("number")),
  );
  if (fitting.length === 0) return;
  const fine =
    rules.enums === "all" ||
    (types?.[0] === "string" && fitting.every((value) => typeof value === "string" && value !== ""));
  if (fine) written.enum = fitting;
  else if (path !== "") told.enum = fitting;
}

function writeProperties(shape: Shape, path: string, written: Written, writing: Writing): void {
  const { rules, lost } = writing;
  const names = allowedNames(namesOf(shape), rules.propertyName);
  const properties: Written = {};
  const back = new Map<string, string>();
  for (const [name, allowed] of names) {
    const inner = shape.properties?.get(name) ?? ANY;
    const here = path === "" ? name : `${path}.${name}`;
    if (inner.never === true) continue;
    properties[allowed] = write(inner, here, writing);
    if (allowed === name) continue;
    back.set(allowed, name);
    lost.push(`${here}: its name, which is ${allowed} there`);
  }
  written.properties = properties;
  const required = [...(shape.required ?? [])].flatMap((name) => {
    const allowed = names.get(name);
    return allowed !== undefined && Object.hasOwn(properties, allowed) ? [allowed] : [];
  });
  if (required.length > 0) written.required = required;
  if (back.size > 0) markNames(written, back);
  if (shape.additional === undefined) return;
  if (rules.keywords.has("additionalProperties")) {
    written.additionalProperties =
      shape.additional === false ? false : write(shape.additional, `${path}.*`, writing);
  } else if (shape.additional !== false) lost.push(at(path, "additionalProperties"));
}

/** Those that are described, and those that are only required. */
function namesOf({ properties, required }: Shape): string[] {
  return [...new Set([...(properties?.keys() ?? []), ...(required ?? [])])];
}

/** A value that the provider has no schema for: the model writes it as JSON in a text. */
function jsonText(
  shape: Shape,
  types: ReadonlySet<TypeName> | "any",
  path: string,
  { lost }: Writing,
): Written {
  const what = types === "any" ? "any JSON value" : "a JSON object";
  for (const each of shape.lost) lost.push(at(path, each));
  lost.push(`${path}: ${what}, which is written in a text`);
  const plain: Writing = { rules: rewriting(SCHEMA_RULES.openai), lost: [] };
  const { description = "", title: _, ...form } = write(shape, path, plain);
  const shown = JSON.stringify(form);
  const fits = shown === "{}" || shown.length > MAX_TOLD ? "" : ` that fits ${shown}`;
  const written = {
    type: "string",
    description: `${description} (${what}${fits}, written as a text)`.trim(),
  };
  markJson(written, types);
  return written;
}

function describe(shape: Shape, told: Written, rules: Writing["rules"]): string {
  const text = shape.description ?? (rules.keywords.has("title") ? "" : (shape.title ?? ""));
  const { default: usual, ...bounds } = told;
  const more = [
    ...(usual === undefined ? [] : [`default ${JSON.stringify(usual)}`]),
    ...(Object.keys(bounds).length === 0 ? [] : [`has to fit ${JSON.stringify(bounds)}`]),
  ].filter((part) => part.length <= MAX_TOLD);
  return more.length === 0 ? text : `${text} (${more.join("; ")})`.trim();
}

const CONCERNED: Record<string, readonly TypeName[]> = {
  format: ["string", "number", "integer"],
  minLength: ["string"],
  maxLength: ["string"],
  pattern: ["string"],
  minItems: ["array"],
  maxItems: ["array"],
  uniqueItems: ["array"],
  minProperties: ["object"],
  maxProperties: ["object"],
};

function concerns(keyword: string, types: readonly TypeName[]): boolean {
  const concerned = CONCERNED[keyword] ?? ["number", "integer"];
  return types.some((type) => concerned.includes(type));
}

function isKnownFormat(
  format: unknown,
  types: readonly TypeName[] | undefined,
  known: SchemaRules["formats"],
): boolean {
  return known === "all" || (types ?? []).some((type) => known[type]?.includes(String(format)));
}
