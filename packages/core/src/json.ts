/** JSON as TypeScript sees it, and a bounded way to read it. */

import { type LimitName, limitError } from "./errors.ts";

export type JsonValue = string | number | boolean | null | JsonObject | JsonValue[];
export type JsonObject = { [key: string]: JsonValue | undefined };

/** Bounds on one JSON text. `JSON.parse` itself has none: it takes two million nested arrays. */
export interface JsonLimits {
  /** Levels of arrays and objects inside one another. Default 64. */
  maxDepth: number;
  /** Values in all, counted over arrays and objects. Default 1,000,000. */
  maxValues: number;
}

export const DEFAULT_JSON_LIMITS: JsonLimits = { maxDepth: 64, maxValues: 1_000_000 };

/** A letter of `__proto__`, escaped. */
const ESCAPED = /\\u00(?:5[fF]|6[fF]|7[024])/;

/**
 * Parses JSON within bounds. Keys named `__proto__` are dropped.
 *
 * @throws SyntaxError when the text is not JSON
 * @throws ProtocolError (−32600) that names the limit when a bound is passed
 */
export function parseJson(text: string, limits: JsonLimits = DEFAULT_JSON_LIMITS): JsonValue {
  const value: JsonValue = JSON.parse(text);
  // A text has no more values than characters, and is no deeper than it has brackets: most need not be walked.
  if (text.length > limits.maxValues || opensMore(text, limits.maxDepth)) checkBounds(value, limits);
  // A reviver recurses: only a text within bounds is given to one.
  return text.includes("__proto__") || (text.includes("\\u00") && ESCAPED.test(text))
    ? JSON.parse(text, (key, inner) => (key === "__proto__" ? undefined : inner))
    : value;
}

/** Whether a text has more opening brackets than so many. */
function opensMore(text: string, count: number): boolean {
  let found = 0;
  for (const bracket of "{[") {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++found > count) return true;
    }
  }
  return false;
}

/** Walks a value without recursion, so that a hostile depth costs an error and not the stack. */
function checkBounds(root: JsonValue, limits: JsonLimits): void {
  if (typeof root !== "object" || root === null) return;
  let level: object[] = [root];
  let values = 1;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limits.maxDepth) throw limitExceeded("maxDepth", limits.maxDepth);
    const next: object[] = [];
    for (const container of level) {
      if (Array.isArray(container)) {
        values += container.length;
        for (const inner of container) if (typeof inner === "object" && inner !== null) next.push(inner);
      } else {
        for (const key in container) {
          values++;
          const inner = (container as Record<string, unknown>)[key];
          if (typeof inner === "object" && inner !== null) next.push(inner);
        }
      }
      if (values > limits.maxValues) throw limitExceeded("maxValues", limits.maxValues);
    }
    level = next;
  }
}

function limitExceeded(name: LimitName, limit: number): Error {
  const what = name === "maxDepth" ? "nested deeper than" : "made of more values than";
  return limitError(name, `the JSON is ${what} ${name} allows (${limit})`, limit);
}

/** True for a JSON object: not an array, not null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
