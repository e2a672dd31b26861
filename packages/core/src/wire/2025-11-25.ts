/**
 * 2025-11-25: results have no type, no hints and no server; structured content is an object or left out;
 * an unknown resource has a code of its own.
 */

import { ErrorCode, ResourceNotFoundError, toErrorObject } from "../errors.ts";
import { isObject } from "../json.ts";
import type { Wire } from "./wire.ts";

export const wire20251125: Wire = {
  revision: "2025-11-25",
  era: "legacy",

  writeResult(result) {
    const { ttlMs, cacheScope, structuredContent } = result;
    const odd = structuredContent !== undefined && !isObject(structuredContent);
    if (ttlMs === undefined && cacheScope === undefined && !odd) return JSON.stringify(result);
    return JSON.stringify({
      ...result,
      ttlMs: undefined,
      cacheScope: undefined,
      structuredContent: odd ? undefined : structuredContent,
    });
  },

  writeDefinition(definition) {
    const { outputSchema } = definition as { outputSchema?: { type?: unknown } };
    const odd = outputSchema !== undefined && outputSchema.type !== "object";
    return JSON.stringify(odd ? { ...definition, outputSchema: undefined } : definition);
  },

  writePage(members) {
    return `{${members}}`;
  },

  error(thrown) {
    const error = toErrorObject(thrown);
    return thrown instanceof ResourceNotFoundError ? { ...error, code: ErrorCode.ResourceNotFound } : error;
  },
};
