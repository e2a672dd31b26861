/** `key=value` on the command line → the arguments of a tool, converted by its input schema. */

import { isObject, type JsonObject, type JsonSchema, type JsonValue, nearest } from "@patchbay/core";
import { usage } from "./failure.ts";

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
      const takes = names.length === 0 ? "It takes no arguments." : `It takes: ${names.join(", ")}.`;
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
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
  const missing = required.filter((name) => !values.has(name));
  if (missing.length > 0) {
    const wanted = missing.map((name) => `${name}=<${typeName(properties[name], schema)}>`);
    throw usage(`Missing: ${wanted.join(" ")}.`);
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
      const takes = names.length === 0 ? "It takes no arguments." : `It takes: ${names.join(", ")}.`;
      throw usage(`There is no argument "${key}". ${takes}`, nearest(key, names));
    }
    texts.set(key, text);
  }
  const missing = required.filter((name) => !texts.has(name));
  if (missing.length > 0) throw usage(`Missing: ${missing.map((name) => `${name}=<text>`).join(" ")}.`);
  return Object.fromEntries(texts);
}

/** How a tool is written on the command line: `a=<number> [unit=<celsius|kelvin>]`. */
export function signature(schema: JsonSchema): string {
  const properties = isObject(schema.properties) ? (schema.properties as Record<string, unknown>) : {};
  const required = new Set(Array.isArray(schema.required) ? (schema.required as string[]) : []);
  return Object.entries(properties)
    .map(([name, property]) => {
      const form = `${name}=<${typeName(property, schema)}>`;
      return required.has(name) ? form : `[${form}]`;
    })
    .join(" ");
}

function split(word: string, names: string[]): { key: string; text: string; raw: boolean } {
  const equals = word.indexOf("=");
  if (equals <= 0) {
    const example = `${names[0] ?? "key"}=${word.replace(/^-+/, "") || "value"}`;
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
  const { types, items } = expectation(schema, root);
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
  const { types, choices } = expectation(schema, root);
  if (choices !== undefined) {
    const chosen = choices.find(
      (choice) => text === (typeof choice === "string" ? choice : JSON.stringify(choice)),
    );
    if (chosen !== undefined) return chosen;
    const names = choices.map((choice) => (typeof choice === "string" ? choice : JSON.stringify(choice)));
    throw usage(`${key}: "${text}" is none of ${names.join(", ")}.`, nearest(text, names));
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
  throw usage(`${key}: expected ${typeName(schema, root)}, got "${text}".`);
}

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/;

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

/** What a property may be, through local `$ref`s, `anyOf`, `oneOf` and `allOf`. */
function expectation(schema: unknown, root: JsonSchema, depth = 0): Expectation {
  const found: Expectation = { types: new Set(), choices: undefined, items: undefined };
  if (!isObject(schema) || depth > 16) return found;
  if (typeof schema.$ref === "string") return expectation(resolve(schema.$ref, root), root, depth + 1);
  if (typeof schema.type === "string") found.types.add(schema.type);
  if (Array.isArray(schema.type)) for (const type of schema.type) found.types.add(String(type));
  if (schema.const !== undefined) found.choices = [schema.const];
  if (Array.isArray(schema.enum)) found.choices = schema.enum;
  found.items = schema.items;

  const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].filter(Array.isArray).flat();
  if (alternatives.length === 0) return found;
  const inner = alternatives.map((alternative) => expectation(alternative, root, depth + 1));
  for (const one of inner) {
    for (const type of one.types) found.types.add(type);
    found.items ??= one.items;
  }
  // A union of constants is an enumeration; one open member makes it an open set.
  if (inner.every((one) => one.choices !== undefined))
    found.choices ??= inner.flatMap((one) => one.choices ?? []);
  return found;
}

function resolve(reference: string, root: JsonSchema): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let node: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isObject(node) || !Object.hasOwn(node, key)) return undefined;
    node = node[key];
  }
  return node;
}

function typeName(schema: unknown, root: JsonSchema): string {
  const { types, choices, items } = expectation(schema, root);
  if (choices !== undefined && choices.length <= 8) return choices.map((choice) => String(choice)).join("|");
  if (types.size === 0) return "json";
  return [...types]
    .map((type) => {
      if (type === "string") return "text";
      if (type === "array") return items === undefined ? "json array" : `${typeName(items, root)}…`;
      return type === "object" ? "json" : type;
    })
    .join("|");
}
