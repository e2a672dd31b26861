/** 2025-11-25: results have no type, no hints and no server; an unknown resource has a code of its own. */

import { ErrorCode, ResourceNotFoundError, toErrorObject } from "../errors.ts";
import type { Wire } from "./wire.ts";

export const wire20251125: Wire = {
  revision: "2025-11-25",
  era: "legacy",

  writeResult(result) {
    if (result.ttlMs === undefined && result.cacheScope === undefined) return JSON.stringify(result);
    const { ttlMs: _ttl, cacheScope: _scope, ...rest } = result;
    return JSON.stringify(rest);
  },

  writePage(members) {
    return `{${members}}`;
  },

  error(thrown) {
    const error = toErrorObject(thrown);
    return thrown instanceof ResourceNotFoundError ? { ...error, code: ErrorCode.ResourceNotFound } : error;
  },
};
