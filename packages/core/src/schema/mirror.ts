/** Tool parameters that are mirrored into HTTP headers by `x-mcp-header` (streamable-http § Custom Headers). */

import { ErrorCode, ProtocolError } from "../errors.ts";
import { isObject, type JsonObject } from "../json.ts";
import type { JsonSchema } from "./json-schema.ts";

/** One parameter, and the header that repeats it. */
export interface MirroredParam {
  /** Lower case, as HTTP servers give it: `mcp-param-region`. */
  header: string;
  /** The properties that lead to it. */
  path: readonly string[];
  type: "string" | "integer" | "boolean";
}

const KEYWORD = "x-mcp-header";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES = ["string", "integer", "boolean"];

/**
 * Finds the mirrored parameters of an input schema.
 *
 * @throws Error when an annotation breaks the rules, which makes the whole tool invalid
 */
export function mirroredParams(schema: JsonSchema): MirroredParam[] {
  const found: MirroredParam[] = [];
  collect(schema, [], found);
  const names = new Set(found.map(({ header }) => header));
  if (names.size < found.length) throw new Error(`two parameters have the same ${KEYWORD}`);
  const all = JSON.stringify(schema).split(`"${KEYWORD}":`).length - 1;
  if (all > found.length)
    throw new Error(`${KEYWORD} may stand on properties that only "properties" lead to`);
  return found;
}

function collect(schema: JsonObject | JsonSchema, path: readonly string[], found: MirroredParam[]): void {
  const { properties } = schema as JsonObject;
  if (!isObject(properties)) return;
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    const here = [...path, name];
    const header = property[KEYWORD];
    if (header !== undefined) found.push(toParam(header, property.type, here));
    collect(property, here, found);
  }
}

function toParam(header: unknown, type: unknown, path: readonly string[]): MirroredParam {
  const where = path.join(".");
  if (typeof header !== "string" || !TOKEN.test(header)) {
    throw new Error(`${where}: ${KEYWORD} must be the name of a header`);
  }
  if (typeof type !== "string" || !TYPES.includes(type)) {
    throw new Error(`${where}: ${KEYWORD} is for strings, integers and booleans`);
  }
  return { header: `mcp-param-${header.toLowerCase()}`, path, type: type as MirroredParam["type"] };
}

/**
 * The value of a mirrored parameter in a call's arguments; nothing when it is not there, or null.
 *
 * @throws ProtocolError (−32602) for an integer outside of JavaScript's safe range
 */
export function mirroredValue(
  args: JsonObject,
  path: readonly string[],
): string | number | boolean | undefined {
  let value: unknown = args;
  for (const step of path) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    // JSON has rounded it already: a header that repeats it would say something else than was meant.
    const what = `${path.join(".")}: an integer that a header repeats must be from -(2^53-1) to 2^53-1`;
    throw new ProtocolError(ErrorCode.InvalidParams, what);
  }
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : undefined;
}
