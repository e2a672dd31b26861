/** A call's arguments as the server wants them: names and values that had to be written otherwise for a provider. */

import { isObject, type JsonSchema, parseJson } from "@patchbay/core";
import { resolveReference } from "./references.ts";
import { type TypeName, typeOf } from "./shape.ts";

interface Mark {
  /** What the properties are called here → what the server calls them. */
  names?: ReadonlyMap<string, string>;
  /** The value is JSON, written in a text; of these types, or of any. */
  json?: ReadonlySet<TypeName> | "any";
}

/** Beside the schemas, not in them: what a provider is sent holds nothing that it does not know. */
const marks = new WeakMap<object, Mark>();

export function markNames(node: object, names: ReadonlyMap<string, string>): void {
  marks.set(node, { ...marks.get(node), names });
}

export function markJson(node: object, json: ReadonlySet<TypeName> | "any"): void {
  marks.set(node, { ...marks.get(node), json });
}

/** @internal for tests, which write values as a model would */
export function markOf(node: object): Mark {
  return marks.get(node) ?? {};
}

const MAX_DEPTH = 64;

/**
 * Turns arguments that fit a lowered schema into arguments for the original.
 *
 * @param schema the very object that `lowerSchema` gave
 */
export function restoreArguments(schema: JsonSchema, args: unknown): unknown {
  return restored(args, schema, schema, 0);
}

function restored(value: unknown, schema: unknown, root: JsonSchema, depth: number): unknown {
  if (depth > MAX_DEPTH) return value;
  const parts = partsFor(value, schema, root);
  const inside = (inner: unknown, schemas: unknown[]) => restored(inner, all(schemas), root, depth + 1);
  const json = parts.map((part) => marks.get(part)?.json).find((mark) => mark !== undefined);
  if (json !== undefined && typeof value === "string") return readJson(value, json);
  if (Array.isArray(value)) {
    const items = parts.map((part) => part.items);
    return value.map((inner) => inside(inner, items));
  }
  if (!isObject(value)) return value;
  const names = new Map(parts.flatMap((part) => Array.from(marks.get(part)?.names ?? [])));
  const entries = Object.entries(value).map(([name, inner]) => {
    const known = parts.filter(({ properties }) => isObject(properties) && Object.hasOwn(properties, name));
    const schemas =
      known.length > 0
        ? known.map(({ properties }) => (properties as Record<string, unknown>)[name])
        : parts.map(({ additionalProperties }) => additionalProperties);
    return [names.get(name) ?? name, inside(inner, schemas)];
  });
  return Object.fromEntries(entries);
}

const MAX_PARTS = 64;

/** All schemas that speak of a value: the schema, what it refers to, its `allOf`, and the alternative that it was written for. */
export function partsFor(value: unknown, schema: unknown, root: JsonSchema): JsonSchema[] {
  const parts: JsonSchema[] = [];
  const pending: unknown[] = [schema];
  while (pending.length > 0 && parts.length < MAX_PARTS) {
    const part = pending.pop();
    if (!isObject(part) || parts.includes(part)) continue;
    parts.push(part);
    if (Array.isArray(part.allOf)) pending.push(...part.allOf);
    if (typeof part.$ref === "string") pending.push(resolveReference(root, part.$ref));
    const alternatives = [part.anyOf, part.oneOf].find(Array.isArray);
    if (alternatives !== undefined) pending.push(alternativeFor(value, alternatives));
  }
  return parts;
}

function all(schemas: unknown[]): unknown {
  const said = schemas.filter(isObject);
  return said.length < 2 ? said[0] : { allOf: said };
}

/** A text that is no JSON, or of another type, is what the model meant as it stands. */
function readJson(text: string, types: ReadonlySet<TypeName> | "any"): unknown {
  try {
    const value: unknown = parseJson(text);
    const type = typeOf(value);
    const fits = types === "any" || types.has(type) || (type === "integer" && types.has("number"));
    return fits ? value : text;
  } catch {
    return text;
  }
}

/** The alternative that a value was written for: of its type, with what it requires, and with the most names in common. */
function alternativeFor(value: unknown, alternatives: readonly unknown[]): unknown {
  const type = typeOf(value);
  let best: unknown;
  let most = -1;
  for (const each of alternatives) {
    if (!isObject(each)) continue;
    const types = [each.type].flat();
    if (each.type !== undefined && !types.includes(type) && !(type === "integer" && types.includes("number")))
      continue;
    let score = marks.get(each)?.json === undefined ? 0 : 0.5;
    if (isObject(value)) {
      const required = Array.isArray(each.required) ? (each.required as string[]) : [];
      if (!required.every((name) => Object.hasOwn(value, name))) continue;
      const properties = isObject(each.properties) ? each.properties : {};
      score = Object.keys(value).filter((name) => Object.hasOwn(properties, name)).length;
    }
    if (score > most) [best, most] = [each, score];
  }
  return best;
}
