/** Pages that were read lately, so that who reads on reads the same page; each belongs to who asked for it. */

import type { Page } from "./reading/page.ts";

/** A page, and where it was found. */
export interface FoundPage extends Page {
  url: string;
}

export interface KeptLimits {
  /** Milliseconds for which a page is kept. */
  keptFor: number;
  /** Characters of all pages that are kept together: of their texts, and of what they are found by. */
  maxKeptCharacters: number;
}

export class Pages {
  readonly #limits: KeptLimits;
  /** The oldest first. */
  readonly #kept = new Map<string, { page: FoundPage; until: number }>();
  #characters = 0;

  constructor(limits: KeptLimits) {
    this.#limits = limits;
  }

  /** @param owner who asks; nothing is told of what others read */
  get(owner: string | undefined, url: string): FoundPage | undefined {
    const kept = this.#kept.get(keyOf(owner, url));
    return kept !== undefined && kept.until > Date.now() ? kept.page : undefined;
  }

  /** Keeps a page under the URL that was asked for, and under the one where it was found. */
  keep(owner: string | undefined, asked: string, page: FoundPage): void {
    const until = Date.now() + this.#limits.keptFor;
    for (const url of new Set([asked, page.url])) {
      const key = keyOf(owner, url);
      this.#drop(key);
      this.#kept.set(key, { page, until });
      this.#characters += sizeOf(key, page);
    }
    for (const oldest of this.#kept.keys()) {
      if (this.#characters <= this.#limits.maxKeptCharacters) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#characters -= sizeOf(key, kept.page);
  }
}

function sizeOf(key: string, { url, title = "", description = "", markdown }: FoundPage): number {
  return key.length + url.length + title.length + description.length + markdown.length;
}

function keyOf(owner: string | undefined, url: string): string {
  return JSON.stringify([owner ?? null, url]);
}
