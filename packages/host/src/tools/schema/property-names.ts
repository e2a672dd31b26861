/** Names of properties as a provider takes them, and back. */

import { createHash } from "node:crypto";

const MAX_LENGTH = 64;
const HASH_LENGTH = 6;

/** Gives each name one that `allowed` takes; one that is taken already stays, another ends in a hash of itself. */
export function allowedNames(names: Iterable<string>, allowed: RegExp | undefined): Map<string, string> {
  return new Map(
    Array.from(names, (name) => [name, allowed === undefined || allowed.test(name) ? name : renamed(name)]),
  );
}

function renamed(name: string): string {
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_LENGTH);
  const kept = name.replace(/[^a-zA-Z0-9_]/g, "_").slice(0, MAX_LENGTH - HASH_LENGTH - 2);
  return `${/^[a-zA-Z_]/.test(kept) ? "" : "_"}${kept}_${hash}`;
}
