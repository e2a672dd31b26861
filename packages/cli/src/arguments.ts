/** `key=value` on the command line → the arguments of a tool, converted by its input schema. */

import { isObject, type JsonObject, type JsonSchema, type JsonValue, nearest } from "@patchbay/core";
import { usage } from "./failure.ts";
import { visibleName, visibleNames } from "./visible.ts";

/**
 * Reads `key=value` (converted by the schema) and `key:=json` (as it stands). A repeated key makes an array.
 *
 * @throws Failure (usage) that names the argument, what was expected, and the nearest name
 */
export function readArguments(words: string[], schema: JsonSchema): JsonObject {
  const properties = isObject(schema.properties) ? (schema.properties as Record<string, unknown>) : {};
  const names = Object.keys(properties);
  const open = isObject(schema.additionalProperties) || schema.additionalProperties === true;
  const texts = new Map<string, string[]>();
  const values = new Map<string, JsonValue>();

  for (const word of words) {
    const { key, text, raw } = split(word, names);
    if (!open && !Object.hasOwn(properties, key)) {
      const takes = names.length === 0 ? "It takes no arguments." : `It takes: ${visibleNames(names)}.`;
      throw usage(`There is no argument "${key}". ${takes}`, nearest(key, names));
    }
    if (raw) values.set(key, readJson(text, `${key}:=`));
    else texts.set(key, [...(texts.get(key) ?? []), text]);
  }
  for (const [key, given] of texts) {
    if (values.has(key)) throw usage(`The argument "${key}" is given both as ${key}= and as ${key}:=.`);
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    values.set(key, convertAll(key, given, property, schema));
  }
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const missing = required.filter((name) => typeof name === "string").filter((name) => !values.has(name));
  if (missing.length > 0) {
    const walk = begin(schema);
    const wanted = missing
      .slice(0, MAX_MISSING)
      .map((name) => `${visibleName(name)}=<${typeName(properties[name], walk)}>`);
    const more = missing.length > MAX_MISSING ? ` and ${missing.length - MAX_MISSING} more` : "";
    throw usage(`Missing: ${wanted.join(" ")}${more}.`);
  }
  return Object.fromEntries(values);
}

/**
 * Reads the JSON object of `--args`.
 *
 * @throws Failure (usage) when it is not a JSON object
 */
export function readArgumentsJson(text: string): JsonObject {
  const value = readJson(text, "--args");
  if (!isObject(value)) throw usage(`--args takes a JSON object, such as --args '{"a": 1}'.`);
  return value;
}

/** The arguments of a prompt: always texts. */
export function readTexts(words: string[], names: string[], required: string[]): Record<string, string> {
  const texts = new Map<string, string>();
  for (const word of words) {
    const { key, text } = split(word, names);
    if (!names.includes(key)) {
      const takes = names.length === 0 ? "It takes no arguments." : `It takes: ${visibleNames(names)}.`;
      throw usage(`There is no argument "${key}". ${takes}`, nearest(key, names));
    }
    texts.set(key, text);
  }
  const missing = required.filter((name) => !texts.has(name));
  if (missing.length > 0)
    throw usage(
      `Missing: ${missing
        .slice(0, MAX_MISSING)
        .map((name) => `${visibleName(name)}=<text>`)
        .join(" ")}.`,
    );
  return Object.fromEntries(texts);
}

/** How a tool is written on the command line: `a=<number> [unit=<celsius|kelvin>]`. */
export function signature(schema: JsonSchema): string {
  const properties = isObject(schema.properties) ? (schema.properties as Record<string, unknown>) : {};
  const required = new Set(Array.isArray(schema.required) ? (schema.required as string[]) : []);
  const walk = begin(schema);
  return Object.entries(properties)
    .map(([name, property]) => {
      const form = `${visibleName(name)}=<${typeName(property, walk)}>`;
      return required.has(name) ? form : `[${form}]`;
    })
    .join(" ");
}

function split(word: string, names: string[]): { key: string; text: string; raw: boolean } {
  const equals = word.indexOf("=");
  if (equals <= 0) {
    const example = `${visibleName(names[0] ?? "key")}=${word.replace(/^-+/, "") || "value"}`;
    throw usage(`"${word}" is no argument: write key=value, such as ${example}, or key:=json.`);
  }
  const raw = word[equals - 1] === ":" && equals > 1;
  return { key: word.slice(0, raw ? equals - 1 : equals), text: word.slice(equals + 1), raw };
}

function readJson(text: string, place: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw usage(`${place} is not JSON: ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`);
  }
}

function convertAll(key: string, texts: string[], schema: unknown, root: JsonSchema): JsonValue {
  const { types, items } = expectation(schema, begin(root));
  if (types.has("array")) {
    const only = texts.length === 1 ? parsed(texts[0] as string) : undefined;
    if (Array.isArray(only)) return only;
    return texts.map((text) => convert(key, text, items, root));
  }
  if (texts.length > 1)
    throw usage(`The argument "${key}" is given ${texts.length} times, and takes one value.`);
  return convert(key, texts[0] as string, schema, root);
}

function convert(key: string, text: string, schema: unknown, root: JsonSchema): JsonValue {
  const { types, choices } = expectation(schema, begin(root));
  if (choices !== undefined) {
    const chosen = choices.find((choice) => text === spelled(choice));
    if (chosen !== undefined) return chosen;
    const names = choices.map(spelled);
    throw usage(`${key}: "${text}" is none of ${visibleNames(names)}.`, nearest(text, names));
  }
  if (types.size === 0) return parsed(text) ?? text;
  if ((types.has("number") || types.has("integer")) && NUMBER.test(text)) {
    const value = Number(text);
    if (
      !Number.isFinite(value) ||
      (Number.isInteger(value) && !Number.isSafeInteger(value) && /^[-+]?\d+$/.test(text))
    ) {
      throw usage(`${key}: ${text} is larger than a JSON number can hold exactly.`);
    }
    if (types.has("number") || Number.isInteger(value)) return value;
  }
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true";
  if (types.has("null") && text === "null") return null;
  if (types.has("object") || types.has("array")) {
    const value = parsed(text);
    if (types.has("object") && isObject(value)) return value;
    if (types.has("array") && Array.isArray(value)) return value;
  }
  if (types.has("string")) return text;
  throw usage(`${key}: expected ${typeName(schema, begin(root))}, got "${text}".`);
}

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/;

function spelled(choice: JsonValue): string {
  return typeof choice === "string" ? choice : JSON.stringify(choice);
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

interface Expectation {
  /** Empty: anything goes. */
  types: Set<string>;
  choices: JsonValue[] | undefined;
  items: unknown;
}

/** One look at a schema that a server wrote: what it refers to may fan out without end, the steps may not. */
interface Walk {
  root: JsonSchema;
  /** How many more nodes may be looked at; below zero, the rest stays unknown. */
  nodes: number;
}

const MAX_NODES = 2_000;
const MAX_DEPTH = 16;
const MAX_CHOICES = 10_000;
const MAX_REFERENCE = 1_000;
const MAX_MISSING = 20;

function begin(root: JsonSchema): Walk {
  return { root, nodes: MAX_NODES };
}

/** What a property may be, through local `$ref`s, `anyOf`, `oneOf` and `allOf`. */
function expectation(schema: unknown, walk: Walk, depth = 0): Expectation {
  const found: Expectation = { types: new Set(), choices: undefined, items: undefined };
  if (--walk.nodes < 0 || !isObject(schema) || depth > MAX_DEPTH) return found;
  if (typeof schema.$ref === "string") return expectation(resolve(schema.$ref, walk.root), walk, depth + 1);
  if (typeof schema.type === "string") found.types.add(schema.type);
  // JSON Schema has seven types.
  if (Array.isArray(schema.type))
    for (const type of schema.type.slice(0, 7)) if (typeof type === "string") found.types.add(type);
  if (schema.const !== undefined) found.choices = [schema.const];
  if (Array.isArray(schema.enum)) found.choices = schema.enum;
  found.items = schema.items;

  let closed: JsonValue[] | undefined;
  let open = false;
  for (const alternatives of [schema.anyOf, schema.oneOf, schema.allOf]) {
    if (!Array.isArray(alternatives)) continue;
    for (const alternative of alternatives) {
      const one = expectation(alternative, walk, depth + 1);
      if (walk.nodes < 0) return { types: new Set(), choices: undefined, items: undefined };
      for (const type of one.types) found.types.add(type);
      found.items ??= one.items;
      closed ??= [];
      if (one.choices === undefined || closed.length + one.choices.length > MAX_CHOICES) open = true;
      if (!open) closed.push(...(one.choices ?? []));
    }
  }
  // A union of constants is an enumeration; one open member makes it an open set.
  if (!open) found.choices ??= closed;
  return found;
}

function resolve(reference: string, root: JsonSchema): unknown {
  if (!reference.startsWith("#/") || reference.length > MAX_REFERENCE) return undefined;
  let node: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isObject(node) || !Object.hasOwn(node, key)) return undefined;
    node = node[key];
  }
  return node;
}

function typeName(schema: unknown, walk: Walk, depth = 0): string {
  const { types, choices, items } = expectation(schema, walk);
  if (walk.nodes < 0) return "value";
  if (choices !== undefined && choices.length <= 8) {
    return choices.map((choice) => visibleName(spelled(choice))).join("|");
  }
  if (types.size === 0) return "json";
  return [...types]
    .slice(0, 7)
    .map((type) => {
      if (type === "string") return "text";
      if (type !== "array") return type === "object" ? "json" : visibleName(type);
      return items === undefined || depth >= 3 ? "json array" : `${typeName(items, walk, depth + 1)}…`;
    })
    .join("|");
}
