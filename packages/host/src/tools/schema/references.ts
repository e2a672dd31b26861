/** Follows `$ref` inside a schema, within bounds: references that lead round, or grow without end, stop somewhere. */

import type { JsonSchema } from "@patchbay/core";

/** A schema has grown past what it may when its references are written out. */
export class TooLarge extends Error {}

const MAX_POINTER = 1_000;

export interface ReferenceBounds {
  /** References inside of what references lead to. */
  maxInside: number;
  /** Times that the same reference may lead on while it is being followed: 1 writes a tree out to its children. */
  maxRounds: number;
  /** Schemas in all. */
  maxSchemas: number;
}

export class References {
  readonly #root: JsonSchema;
  readonly #bounds: ReferenceBounds;
  /** The references that led here. */
  readonly #trail: readonly string[];
  readonly #spent: { schemas: number };

  constructor(
    root: JsonSchema,
    bounds: ReferenceBounds,
    trail: readonly string[] = [],
    spent = { schemas: 0 },
  ) {
    this.#root = root;
    this.#bounds = bounds;
    this.#trail = trail;
    this.#spent = spent;
  }

  /**
   * Counts one schema.
   *
   * @throws TooLarge when there are more than `maxSchemas`
   */
  count(): void {
    if (++this.#spent.schemas > this.#bounds.maxSchemas) throw new TooLarge();
  }

  /** The schema itself, for a look at it. */
  peek(reference: string): unknown {
    return resolveReference(this.#root, reference);
  }

  /** What a reference leads to; nothing where it leads nowhere, or has led on for too long. */
  follow(reference: string): { schema: unknown; references: References } | undefined {
    const rounds = this.#trail.filter((each) => each === reference).length;
    if (rounds > this.#bounds.maxRounds || this.#trail.length >= this.#bounds.maxInside) return undefined;
    const schema = resolveReference(this.#root, reference);
    if (schema === undefined) return undefined;
    const trail = [...this.#trail, reference];
    return { schema, references: new References(this.#root, this.#bounds, trail, this.#spent) };
  }
}

/** The schema that `#`, `#/a/pointer` or `#anchor` names, if there is one. */
export function resolveReference(root: JsonSchema, reference: string): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#") || reference.length > MAX_POINTER) return undefined;
  if (!reference.startsWith("#/")) return findAnchor(root, reference.slice(1));
  let found: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

function findAnchor(root: JsonSchema, anchor: string): unknown {
  const pending: object[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if ((node as JsonSchema).$anchor === anchor) return node;
    for (const inner of Object.values(node)) {
      if (typeof inner === "object" && inner !== null) pending.push(inner);
    }
  }
  return undefined;
}

/** A server's percent signs need not be right. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
