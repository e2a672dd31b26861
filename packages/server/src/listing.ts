/** One kind of thing that a server offers: looked up by key, listed in pages that are written once. */

import { type CacheHints, ErrorCode, nearest, ProtocolError, type Revision, type Wire } from "@patchbay/core";
import { InsufficientScopeError, permits } from "./auth/access.ts";
import type { Exchange } from "./exchange.ts";

/** A thing that can be listed. */
export interface Listed {
  /** How it appears in the list, in the newest spelling. */
  readonly definition: object;
  /** Who it is offered to; everybody, when missing. */
  readonly enabled?: Enabled | undefined;
  /** The scopes that it takes; none, when missing. */
  readonly scopes?: readonly string[] | undefined;
}

/** Whether something is offered to who asks. It may look at credentials, never at the connection (server/tools). */
export type Enabled = (exchange: Exchange) => boolean;

/** A page as JSON text, and as bytes too where it is so long that to write it again would cost more than its request. */
export interface WrittenPage {
  readonly text: string;
  readonly bytes: Uint8Array | undefined;
}

/** Characters of a page that is kept as bytes too. */
const LONG = 8 * 1024;

/** A page of a list, as JSON for each revision that has asked for it. */
export class ReadyPage {
  readonly #kind: string;
  readonly #entries: readonly Listed[];
  readonly #nextCursor: string | undefined;
  readonly #forOne: boolean;
  /** By revision, and apart what is for one user. */
  readonly #written = { public: new Map<Revision, WrittenPage>(), private: new Map<Revision, WrittenPage>() };

  /** @param forOne whether it is made for one caller, and so must not be kept for others */
  constructor(kind: string, entries: readonly Listed[], nextCursor: string | undefined, forOne: boolean) {
    this.#kind = kind;
    this.#entries = entries;
    this.#nextCursor = nextCursor;
    this.#forOne = forOne;
  }

  /** The result that holds this page. */
  writtenFor(wire: Wire, hints: Required<CacheHints>, serverMeta: string): WrittenPage {
    const scope = this.#forOne ? "private" : hints.cacheScope;
    let written = this.#written[scope].get(wire.revision);
    if (written === undefined) {
      const items = this.#entries.map((entry) => wire.writeDefinition(entry.definition)).join(",");
      const next = this.#nextCursor === undefined ? "" : `,"nextCursor":${JSON.stringify(this.#nextCursor)}`;
      const own: Required<CacheHints> = { ...hints, cacheScope: scope };
      const text = wire.writePage(`"${this.#kind}":[${items}]${next}`, own, serverMeta);
      const kept = text.length > LONG && !this.#forOne;
      written = { text, bytes: kept ? new TextEncoder().encode(text) : undefined };
      this.#written[scope].set(wire.revision, written);
    }
    return written;
  }
}

/** Whether something is there for who asks, whatever scopes they have. */
function isThere({ enabled }: Listed, exchange: Exchange): boolean {
  return enabled === undefined || enabled(exchange);
}

/** Whether something is listed for who asks. */
export function isListed(entry: Listed, exchange: Exchange): boolean {
  return isThere(entry, exchange) && permits(entry.scopes, exchange.access);
}

/** Entries in the order in which they were added. */
export class Listing<Entry extends Listed> {
  readonly #kind: string;
  readonly #pageSize: number;
  readonly #onChange: () => void;
  readonly #entries = new Map<string, Entry>();
  #pages: Map<string | undefined, ReadyPage> | undefined;
  /** Whether some are offered to some callers only: then no page is the same for all. */
  #conditional = false;

  /** @param kind the member of the result that holds the list: `tools` */
  constructor(kind: string, pageSize: number, onChange: () => void) {
    this.#kind = kind;
    this.#pageSize = pageSize;
    this.#onChange = onChange;
  }

  /**
   * The entry of this key, if it is there for who asks.
   *
   * @throws InsufficientScopeError when it is, but they lack scopes
   */
  get(key: string, exchange: Exchange): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || !this.#conditional) return entry;
    if (!isThere(entry, exchange)) return undefined;
    this.permit(key, entry, exchange);
    return entry;
  }

  /** The entries that are there for who asks, whatever scopes they have. */
  there(exchange: Exchange): [key: string, entry: Entry][] {
    return [...this.#entries].filter(([, entry]) => isThere(entry, exchange));
  }

  /** @throws InsufficientScopeError when who asks lacks the scopes of an entry */
  permit(key: string, { scopes }: Entry, { access }: Exchange): void {
    if (scopes !== undefined && !permits(scopes, access)) throw new InsufficientScopeError(key, scopes);
  }

  /** Whether the entry of this key is listed for who asks. */
  has(key: string, exchange: Exchange): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && isListed(entry, exchange);
  }

  /** The key nearest to one that was mistyped. */
  nearest(key: string, exchange: Exchange): string | undefined {
    return nearest(key, this.#offeredTo(exchange).keys());
  }

  /** Whatever it is offered to. */
  find(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  values(): Iterable<Entry> {
    return this.#entries.values();
  }

  entries(): Iterable<[key: string, entry: Entry]> {
    return this.#entries.entries();
  }

  /** @throws Error when there is one of this key already */
  add(key: string, entry: Entry): void {
    if (this.#entries.has(key)) throw new Error(`There is already an entry "${key}" among the ${this.#kind}`);
    this.#entries.set(key, entry);
    this.#changed();
  }

  /** False when there was none of this key. */
  remove(key: string): boolean {
    if (!this.#entries.delete(key)) return false;
    this.#changed();
    return true;
  }

  #changed(): void {
    this.#pages = undefined;
    this.#conditional = [...this.#entries.values()].some(
      ({ enabled, scopes }) => enabled !== undefined || scopes !== undefined,
    );
    this.#onChange();
  }

  /**
   * @param cursor from the page before; missing for the first
   * @throws ProtocolError (−32602) for a cursor that is not of this list (server/utilities/pagination)
   */
  page(cursor: unknown, exchange: Exchange): ReadyPage {
    if (!this.#conditional) this.#pages ??= this.#cut(this.#entries, false);
    const pages = this.#pages ?? this.#cut(this.#offeredTo(exchange), true);
    const page = pages.get(cursor as string | undefined);
    if (page === undefined) {
      throw new ProtocolError(
        ErrorCode.InvalidParams,
        `Invalid cursor; list again from the start, without a cursor`,
      );
    }
    return page;
  }

  #offeredTo(exchange: Exchange): ReadonlyMap<string, Entry> {
    if (!this.#conditional) return this.#entries;
    return new Map([...this.#entries].filter(([, entry]) => isListed(entry, exchange)));
  }

  /** A cursor names the last key before its page, so that it outlives what is added after it. */
  #cut(all: ReadonlyMap<string, Entry>, forOne: boolean): Map<string | undefined, ReadyPage> {
    const pages = new Map<string | undefined, ReadyPage>();
    const keys = [...all.keys()];
    let cursor: string | undefined;
    for (let start = 0; start === 0 || start < keys.length; start += this.#pageSize) {
      const end = start + this.#pageSize;
      const entries = keys.slice(start, end).map((key) => all.get(key) as Entry);
      const next = end < keys.length ? `after:${keys[end - 1]}` : undefined;
      pages.set(cursor, new ReadyPage(this.#kind, entries, next, forOne));
      cursor = next;
    }
    return pages;
  }
}
