/** One server within another: what it offers is offered there too, and stays so when it changes. */

import type { Catalog } from "./catalog.ts";
import type { Change, Changes } from "./changes.ts";
import type { Listed, Listing } from "./listing.ts";

export interface IncludeOptions {
  /** Stands before the names of its tools and prompts, such as `files_`. Default: nothing. */
  prefix?: string;
}

/** One kind of thing that is included: from where, to where, and under which key. */
interface Part {
  /** What is said to change when it does. */
  kind: "tools" | "resources" | "prompts";
  /** @throws Error, before anything is changed, when a key is taken */
  check(): void;
  /** Makes there what is here now. */
  follow(): void;
}

/**
 * Includes all parts of a catalog in another, now and whenever it changes.
 *
 * @param changes those of the server that is included
 * @param publish tells the changes that are no lists' to who listens to the server that includes it
 * @throws Error when a name or URI is taken; nothing is included then
 */
export function include(
  from: Catalog,
  into: Catalog,
  prefix: string,
  changes: Changes,
  publish: (change: Change) => void,
): void {
  const parts = [
    part("tools", from.tools, into.tools, prefix),
    part("prompts", from.prompts, into.prompts, prefix),
    part("resources", from.resources, into.resources),
    part("resources", from.resourceTemplates, into.resourceTemplates),
  ];
  for (const { check } of parts) check();
  for (const { follow } of parts) follow();
  changes.subscribe((change) => {
    const { kind } = change;
    if (kind === "resource" || kind === "visit") publish(change);
    else for (const part of parts) if (kind === "anything" || kind === part.kind) part.follow();
  });
}

function part<Entry extends Listed>(
  kind: Part["kind"],
  from: Listing<Entry>,
  into: Listing<Entry>,
  prefix?: string,
): Part {
  const included = new Map<string, { original: Entry; key: string }>();
  const keyOf = (key: string) => (prefix ?? "") + key;
  return {
    kind,
    check() {
      for (const [key] of from.entries()) {
        if (into.find(keyOf(key)) !== undefined)
          throw new Error(`Among the ${kind} there is "${keyOf(key)}" already; include it under a prefix`);
      }
    },
    follow() {
      const now = new Map(from.entries());
      for (const [key, { original, key: there }] of included) {
        if (now.get(key) === original) continue;
        into.remove(there);
        included.delete(key);
      }
      for (const [key, original] of now) {
        const there = keyOf(key);
        // What was defined here by that name since stays what it is.
        if (included.has(key) || into.find(there) !== undefined) continue;
        const definition =
          prefix === undefined ? original.definition : { ...original.definition, name: there };
        into.add(there, { ...original, definition } as Entry);
        included.set(key, { original, key: there });
      }
    },
  };
}
