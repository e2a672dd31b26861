/** One kind of thing that a server offers: looked up by key, listed in pages that are written once. */

import { type CacheHints, ErrorCode, ProtocolError, type Revision, type Wire } from "@patchbay/core";

/** A thing that can be listed. */
export interface Listed {
  /** How it appears in the list, in the newest spelling. */
  readonly definition: object;
}

/** A page of a list, as JSON text for each revision that has asked for it. */
export class ReadyPage {
  readonly #kind: string;
  readonly #entries: readonly Listed[];
  readonly #nextCursor: string | undefined;
  readonly #texts = new Map<Revision, string>();

  constructor(kind: string, entries: readonly Listed[], nextCursor: string | undefined) {
    this.#kind = kind;
    this.#entries = entries;
    this.#nextCursor = nextCursor;
  }

  /** The text of the result that holds this page. */
  textFor(wire: Wire, hints: Required<CacheHints>, serverMeta: string): string {
    let text = this.#texts.get(wire.revision);
    if (text === undefined) {
      const items = this.#entries.map((entry) => wire.writeDefinition(entry.definition)).join(",");
      const next = this.#nextCursor === undefined ? "" : `,"nextCursor":${JSON.stringify(this.#nextCursor)}`;
      text = wire.writePage(`"${this.#kind}":[${items}]${next}`, hints, serverMeta);
      this.#texts.set(wire.revision, text);
    }
    return text;
  }
}

/** Entries in the order in which they were added. */
export class Listing<Entry extends Listed> {
  readonly #kind: string;
  readonly #pageSize: number;
  readonly #onChange: () => void;
  readonly #entries = new Map<string, Entry>();
  #pages: Map<string | undefined, ReadyPage> | undefined;

  /** @param kind the member of the result that holds the list: `tools` */
  constructor(kind: string, pageSize: number, onChange: () => void) {
    this.#kind = kind;
    this.#pageSize = pageSize;
    this.#onChange = onChange;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  keys(): Iterable<string> {
    return this.#entries.keys();
  }

  values(): Iterable<Entry> {
    return this.#entries.values();
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
    this.#onChange();
  }

  /**
   * @param cursor from the page before; missing for the first
   * @throws ProtocolError (−32602) for a cursor that is not of this list (server/utilities/pagination)
   */
  page(cursor: unknown): ReadyPage {
    this.#pages ??= this.#cut();
    const page = this.#pages.get(cursor as string | undefined);
    if (page === undefined) {
      throw new ProtocolError(
        ErrorCode.InvalidParams,
        `Invalid cursor; list again from the start, without a cursor`,
      );
    }
    return page;
  }

  /** A cursor names the last key before its page, so that it outlives what is added after it. */
  #cut(): Map<string | undefined, ReadyPage> {
    const pages = new Map<string | undefined, ReadyPage>();
    const keys = [...this.#entries.keys()];
    let cursor: string | undefined;
    for (let start = 0; start === 0 || start < keys.length; start += this.#pageSize) {
      const end = start + this.#pageSize;
      const entries = keys.slice(start, end).map((key) => this.#entries.get(key) as Entry);
      const next = end < keys.length ? `after:${keys[end - 1]}` : undefined;
      pages.set(cursor, new ReadyPage(this.#kind, entries, next));
      cursor = next;
    }
    return pages;
  }
}
