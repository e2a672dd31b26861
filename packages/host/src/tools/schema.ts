/** A tool's input schema as a provider takes it: a lowered copy, or the reason why there is none. */

import { isObject, type JsonSchema } from "@patchbay/core";
import type { ProviderName } from "../settings.ts";

export type Lowered =
  | {
      schema: JsonSchema;
      /** What the copy no longer says, for people to read. The server still checks the original. */
      lost: string[];
    }
  | { reason: string };

const COMBINATORS = ["oneOf", "anyOf", "allOf", "not", "enum", "const", "if", "then", "else"] as const;
/** References that point to references can grow a schema without end. */
const MAX_NODES = 10_000;
/** References inside of what references point to. */
const MAX_INSIDE = 64;
const MAX_REFERENCE = 1_000;
/** Keywords whose members are named by the author, not by JSON Schema. */
const NAMED = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords that hold values, not schemas. */
const VALUES = new Set(["enum", "const", "default", "examples", "required", "dependentRequired"]);

/**
 * Makes the copy. Every provider gets an object at the root, `properties`, and `items` for each array, and
 * no `$schema`; OpenAI, DeepSeek and Anthropic no combinator at the root; DeepSeek no `$ref`.
 */
export async function lowerSchema(schema: JsonSchema, provider: ProviderName): Promise<Lowered> {
  if (!isObject(schema)) return { reason: "its input schema is not an object" };
  if (schema.type !== undefined && schema.type !== "object") {
    return { reason: `its input schema is of type ${JSON.stringify(schema.type)}, not "object"` };
  }
  // The rule planner reads the original, and its server checks what it sends.
  if (provider === "rules") return { schema: { type: "object", properties: {} }, lost: [] };
  try {
    const { compileSchema } = await import("@patchbay/core/schema");
    // Also bounds depth and size, so that what follows may recurse.
    compileSchema(schema);
  } catch (error) {
    return { reason: `its input schema is wrong: ${error instanceof Error ? error.message : "unreadable"}` };
  }
  const lost: string[] = [];
  const inline = provider === "deepseek";
  const budget = { nodes: MAX_NODES };
  const { $schema: _, ...root } = lowerNode(schema, {
    root: schema,
    lost,
    inline,
    budget,
    inside: [],
  }) as JsonSchema;
  if (budget.nodes < 0) {
    return { reason: `its input schema grows past ${MAX_NODES} parts when its references are written out` };
  }
  if (provider !== "local") {
    for (const keyword of COMBINATORS) {
      if (root[keyword] === undefined) continue;
      if (!isObject(root.properties) || Object.keys(root.properties).length === 0) {
        return { reason: `its input schema has ${keyword} at the root and no properties of its own` };
      }
      delete root[keyword];
      lost.push(`${keyword} at the root`);
    }
  }
  if (inline) {
    delete root.$defs;
    delete root.definitions;
  }
  root.type = "object";
  root.properties ??= {};
  return { schema: root, lost };
}

interface Lowering {
  root: JsonSchema;
  lost: string[];
  inline: boolean;
  budget: { nodes: number };
  /** The references that led here: one that comes again is a loop. */
  inside: string[];
}

/** Copies a schema node and all below it. */
function lowerNode(node: unknown, lowering: Lowering): unknown {
  if (typeof node !== "object" || node === null || lowering.budget.nodes < 0) return node;
  // Long lists cost too, though what is in them may be no schema.
  lowering.budget.nodes -= Math.ceil((Array.isArray(node) ? node : Object.keys(node)).length / 16);
  if (Array.isArray(node)) return node.map((inner) => lowerNode(inner, lowering));
  if (!isObject(node)) return node;
  lowering.budget.nodes--;
  if (lowering.inline && typeof node.$ref === "string") return inlined(node, node.$ref, lowering);
  const copy: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(node)) {
    if (VALUES.has(keyword)) copy[keyword] = value;
    else if (NAMED.has(keyword) && isObject(value)) {
      if (lowering.inline && (keyword === "$defs" || keyword === "definitions")) continue;
      copy[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, lowerNode(inner, lowering)]),
      );
    } else copy[keyword] = lowerNode(value, lowering);
  }
  const types = Array.isArray(copy.type) ? copy.type : [copy.type];
  if (types.includes("array")) copy.items ??= {};
  return copy;
}

/** What a `$ref` points to, in its place; a loop becomes a schema that takes anything. */
function inlined(node: Record<string, unknown>, reference: string, lowering: Lowering): unknown {
  const { $ref: _, ...beside } = node;
  if (lowering.inside.includes(reference) || lowering.inside.length >= MAX_INSIDE) {
    lowering.lost.push(`what ${reference} says of itself`);
    return lowerNode(beside, lowering);
  }
  const target = resolvePointer(lowering.root, reference);
  if (!isObject(target)) {
    lowering.lost.push(`${reference.slice(0, 100)}, which points at no schema`);
    return lowerNode(beside, lowering);
  }
  return lowerNode({ ...target, ...beside }, { ...lowering, inside: [...lowering.inside, reference] });
}

function resolvePointer(root: JsonSchema, reference: string): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/") || reference.length > MAX_REFERENCE) return undefined;
  let found: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

/** A server's percent signs need not be right. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
