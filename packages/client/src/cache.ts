/** Results that the server allows to be used again, for one principal: each client has a cache of its own (server/utilities/caching). */

import type { JsonObject } from "@patchbay/core";
import { type Change, isWithin } from "./subscriptions/changes.ts";

/** Methods whose results say how long they are good for. */
export const CACHEABLE: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);

/** Whose results a changed list makes worthless. */
const LISTED: Record<"tools" | "prompts" | "resources", readonly string[]> = {
  tools: ["tools/list"],
  prompts: ["prompts/list"],
  resources: ["resources/list", "resources/templates/list"],
};

interface Entry {
  readonly method: string;
  /** Kept as text: whoever gets a result may change it. */
  readonly text: string;
  /** On the clock of `performance.now()`. */
  readonly staleAt: number;
  readonly uri: string | undefined;
}

export class ResultCache {
  readonly #maxBytes: number;
  /** By method and parameters; what was used last is last. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  /** Counts what made results worthless: one that was asked for before it is not kept. */
  #era = 0;

  /** @param maxBytes characters in all; 0 keeps nothing */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Tells the moment of a request, for `put`. */
  get moment(): number {
    return this.#era;
  }

  /** A result that is still good. */
  get(method: string, members: string): JsonObject | undefined {
    const key = keyOf(method, members);
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#remove(key, entry);
    if (performance.now() >= entry.staleAt) return undefined;
    this.#add(key, entry);
    return JSON.parse(entry.text);
  }

  /**
   * Keeps a result for as long as it says, where it says so.
   *
   * @param asked the moment when it was asked for
   */
  put(method: string, members: string, result: JsonObject, asked: number, uri?: string): void {
    const key = keyOf(method, members);
    const old = this.#entries.get(key);
    if (old !== undefined) this.#remove(key, old);
    const { ttlMs } = result;
    if (typeof ttlMs !== "number" || !(ttlMs > 0) || this.#maxBytes === 0 || asked !== this.#era) return;
    const text = JSON.stringify(result);
    if (text.length > this.#maxBytes) return;
    this.#add(key, { method, text, staleAt: performance.now() + ttlMs, uri });
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#remove(oldest, entry);
    }
  }

  /** Something has changed; without a change, anything may have. */
  invalidate(change: Change | undefined): void {
    this.#era++;
    for (const [key, entry] of this.#entries) if (isAffected(entry, change)) this.#remove(key, entry);
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.text.length;
  }

  #remove(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= entry.text.length;
  }
}

function isAffected({ method, uri }: Entry, change: Change | undefined): boolean {
  if (change === undefined) return true;
  if (change.kind !== "resource") return LISTED[change.kind].includes(method);
  // What is told of may be a part of what was read.
  return uri !== undefined && isWithin(change.uri, uri);
}

function keyOf(method: string, members: string): string {
  return `${method} ${members}`;
}
