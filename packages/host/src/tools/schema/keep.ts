/** The copy for providers that take nearly all of JSON Schema: kept as it is, but for what they refuse. */

import { isObject, type JsonSchema } from "@patchbay/core";
import { allowedNames } from "./property-names.ts";
import { resolveReference } from "./references.ts";
import { markNames } from "./restore.ts";

/** Refused at the root by one provider or the other. */
const NOT_AT_ROOT = ["oneOf", "anyOf", "allOf", "not", "enum", "const", "if", "then", "else", "$ref"];
/** Keywords whose members are named by the author, not by JSON Schema. */
const NAMED = new Set(["dependencies", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords that hold values, not schemas. */
const VALUES = new Set(["enum", "const", "default", "examples", "required", "dependentRequired"]);

/** Whether the schema can stay: an object without alternatives at its root, whose references are to its definitions. */
export function canKeep(schema: JsonSchema): boolean {
  return !NOT_AT_ROOT.some((keyword) => keyword in schema) && hasPlainReferences(schema, schema);
}

function hasPlainReferences(node: unknown, root: JsonSchema): boolean {
  if (typeof node !== "object" || node === null) return true;
  if (isObject(node)) {
    if ("$dynamicRef" in node || "$recursiveRef" in node) return false;
    const { $ref: reference } = node;
    if (typeof reference === "string") {
      const plain = /^#\/(\$defs|definitions)\/[^/]+$/.test(reference);
      if (!plain || !leadsSomewhere(reference, root)) return false;
    }
  }
  return Object.values(node).every((inner) => hasPlainReferences(inner, root));
}

/** False for references to nothing, and for those that only lead to one another. */
function leadsSomewhere(reference: string, root: JsonSchema): boolean {
  const passed = new Set<string>();
  for (let next: unknown = reference; typeof next === "string"; ) {
    if (passed.has(next)) return false;
    passed.add(next);
    const target = resolveReference(root, next);
    if (target === undefined) return false;
    next = isObject(target) ? target.$ref : undefined;
  }
  return true;
}

/** Makes the copy. */
export function keep(
  schema: JsonSchema,
  { propertyName, lost }: { propertyName: RegExp | undefined; lost: string[] },
): JsonSchema {
  const { $schema: _, $id: __, ...root } = schema;
  const copy = keepNode(root, "") as JsonSchema;
  copy.type = "object";
  copy.properties ??= {};
  return copy;

  function keepNode(node: unknown, path: string): unknown {
    if (typeof node === "boolean") return node ? {} : { not: {} };
    if (!isObject(node)) return node;
    const copy: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(node)) {
      if (VALUES.has(keyword)) copy[keyword] = value;
      else if (NAMED.has(keyword) && isObject(value)) {
        copy[keyword] = mapValues(value, (inner) => (Array.isArray(inner) ? inner : keepNode(inner, path)));
      } else if (keyword === "additionalProperties" && typeof value === "boolean") copy[keyword] = value;
      else if (keyword === "properties" && isObject(value)) continue;
      else if (Array.isArray(value)) copy[keyword] = value.map((inner) => keepValue(inner, path));
      else copy[keyword] = keywordOfSchema(keyword) ? keepNode(value, path) : value;
    }
    keepProperties(node, path, copy);
    keepItems(node, copy);
    return copy;
  }

  function keepValue(inner: unknown, path: string): unknown {
    return typeof inner === "string" ? inner : keepNode(inner, path);
  }

  function keepProperties(node: Record<string, unknown>, path: string, copy: Record<string, unknown>): void {
    if (!isObject(node.properties)) return;
    const names = allowedNames(Object.keys(node.properties), propertyName);
    const back = new Map<string, string>();
    const properties: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(node.properties)) {
      const allowed = names.get(name) as string;
      const here = path === "" ? name : `${path}.${name}`;
      properties[allowed] = keepNode(inner, here);
      if (allowed === name) continue;
      back.set(allowed, name);
      lost.push(`${here}: its name, which is ${allowed} there`);
    }
    copy.properties = properties;
    if (back.size === 0) return;
    markNames(copy, back);
    if (Array.isArray(node.required))
      copy.required = node.required.map((name) => names.get(String(name)) ?? name);
  }
}

/** Every array says what is in it, and a list of items is spelled as 2020-12 does. */
function keepItems(node: Record<string, unknown>, copy: Record<string, unknown>): void {
  if (Array.isArray(node.items)) {
    copy.prefixItems = copy.items;
    copy.items = copy.additionalItems ?? {};
    delete copy.additionalItems;
  }
  if ([copy.type].flat().includes("array")) copy.items ??= {};
}

const SCHEMA_KEYWORDS = new Set([
  ...["items", "additionalItems", "additionalProperties", "contains", "propertyNames", "not"],
  ...["if", "then", "else", "unevaluatedItems", "unevaluatedProperties", "contentSchema"],
]);

function keywordOfSchema(keyword: string): boolean {
  return SCHEMA_KEYWORDS.has(keyword);
}

function mapValues<T>(object: Record<string, T>, change: (value: T) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}
