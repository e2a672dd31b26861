/** How long results may be kept, and by whom: with its defaults, and refused where it is not valid (server/utilities/caching). */

import type { CacheHints } from "@patchbay/core";

/** @throws Error for hints that are not valid */
export function cacheHints(hints: CacheHints): Required<CacheHints> {
  const fault = hintsFault(hints);
  if (fault !== undefined) throw new Error(fault);
  const { ttlMs = 0, cacheScope = "public" } = hints;
  return { ttlMs, cacheScope };
}

export function hintsFault({ ttlMs, cacheScope }: CacheHints): string | undefined {
  if (ttlMs !== undefined && !(Number.isInteger(ttlMs) && ttlMs >= 0))
    return `ttlMs must be a whole number of milliseconds from 0, not ${ttlMs}`;
  if (cacheScope !== undefined && cacheScope !== "public" && cacheScope !== "private")
    return `cacheScope must be "public" or "private", not ${JSON.stringify(cacheScope)}`;
  return undefined;
}
