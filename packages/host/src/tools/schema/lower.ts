/** A tool's input schema as a provider takes it: a lowered copy, or the reason why there is none. */

import { isObject, type JsonSchema } from "@patchbay/core";
import type { ToolFormat } from "../formats.ts";
import { canKeep, keep } from "./keep.ts";
import { type ReferenceBounds, References, TooLarge } from "./references.ts";
import { rewriting, SCHEMA_RULES } from "./rules.ts";
import { readShape } from "./shape.ts";
import { writeRoot } from "./write.ts";

export interface Lowered {
  /** What the provider is sent. Whatever fits the original fits it, once written as it says. */
  schema: JsonSchema;
  /** What it no longer says, for people to read: `days: minimum`. The original still checks each call. */
  lost: string[];
}

/** A tool that cannot be offered, and why. */
export interface Refused {
  reason: string;
}

/** References are written out as far as there is room; a schema that is too large is tried again with less of them. */
const ATTEMPTS: readonly ReferenceBounds[] = [
  { maxInside: 24, maxRounds: 1, maxSchemas: 5_000 },
  { maxInside: 8, maxRounds: 0, maxSchemas: 5_000 },
  { maxInside: 3, maxRounds: 0, maxSchemas: 5_000 },
  { maxInside: 1, maxRounds: 0, maxSchemas: 20_000 },
];

/** The same schema gives the same copy: servers' lists are read again with each question. */
const known = new WeakMap<object, Map<ToolFormat, Lowered | Refused>>();

/**
 * Makes the copy for a provider's format. The original must be valid, within the bounds of `compileSchema`, and an
 * object at its root. `none` is for who reads the original, and gives an empty copy.
 */
export async function lowerSchema(
  schema: JsonSchema,
  format: ToolFormat | "none",
): Promise<Lowered | Refused> {
  if (!isObject(schema)) return { reason: "its input schema is not an object" };
  if (schema.type !== undefined && schema.type !== "object") {
    return { reason: `its input schema is of type ${JSON.stringify(schema.type)}, not "object"` };
  }
  if (format === "none") return { schema: { type: "object", properties: {} }, lost: [] };
  const made = known.get(schema)?.get(format) ?? (await lower(schema, format));
  known.set(schema, (known.get(schema) ?? new Map()).set(format, made));
  return made;
}

async function lower(schema: JsonSchema, format: ToolFormat): Promise<Lowered | Refused> {
  try {
    const { checkSchema } = await import("@patchbay/core/schema");
    // Also bounds depth and size, so that what follows may recurse.
    checkSchema(schema);
    checkPatterns(schema);
  } catch (error) {
    return { reason: `its input schema is wrong: ${error instanceof Error ? error.message : "unreadable"}` };
  }
  const rules = SCHEMA_RULES[format];
  const lost: string[] = [];
  if (rules.keywords === "all" && canKeep(schema)) {
    return { schema: keep(schema, { propertyName: rules.propertyName, lost }), lost };
  }
  for (const bounds of ATTEMPTS) {
    try {
      const shape = readShape(schema, new References(schema, bounds));
      const lowered = writeRoot(shape, { rules: rewriting(rules), lost });
      return { schema: lowered, lost: [...new Set(lost)] };
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
    }
  }
  return { reason: "its input schema is too large when its references are written out" };
}

/** What `pattern` may be is nowhere written down but in what compiles it; a provider refuses what does not. */
function checkPatterns(node: object): void {
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === "pattern" && typeof value === "string") new RegExp(value, "u");
    else if (typeof value === "object" && value !== null) checkPatterns(value);
  }
}
