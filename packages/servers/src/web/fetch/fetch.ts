/** A page of the web, read whole: by the server itself, or by Firecrawl. */

import type { WebSettings } from "../options.ts";
import { type FoundPage, Pages } from "../pages.ts";
import { Readers } from "../reading/readers.ts";
import { Downloads } from "./download.ts";
import { portOf } from "./guard.ts";

/** Who asks, when to stop, and who hears what goes on. */
export interface Asking {
  owner: string | undefined;
  signal: AbortSignal;
  told: (what: string) => void;
}

export class Fetching {
  readonly #settings: WebSettings;
  readonly #downloads: Downloads;
  readonly #readers: Readers;
  readonly #pages: Pages;

  constructor(settings: WebSettings) {
    this.#settings = settings;
    this.#downloads = new Downloads(settings);
    this.#readers = new Readers(settings);
    this.#pages = new Pages(settings);
  }

  /** The page as it is now. */
  async fetch(url: URL, asking: Asking): Promise<FoundPage> {
    const { firecrawl } = this.#settings;
    const page = firecrawl === undefined ? await this.#read(url, asking) : await this.#scrape(url, asking);
    this.#pages.keep(asking.owner, url.href, page);
    return page;
  }

  /** The page as it was read lately, or as it is now. */
  async recent(url: URL, asking: Asking): Promise<FoundPage> {
    return this.#pages.get(asking.owner, url.href) ?? this.fetch(url, asking);
  }

  async #read(url: URL, { signal, told }: Asking): Promise<FoundPage> {
    const { url: found, contentType, bytes } = await this.#downloads.get(url, signal, told);
    told("reading the page");
    const page = await this.#readers.read({ bytes, contentType, url: found.href }, signal);
    return { ...page, url: found.href };
  }

  /** Firecrawl reaches what it reaches: it is sent nowhere where the server itself would not go. */
  async #scrape(url: URL, { signal, told }: Asking): Promise<FoundPage> {
    const { guard } = this.#downloads;
    guard.check(url);
    await guard.resolve(url.hostname, portOf(url));
    told("asking Firecrawl");
    const { scrape } = await import("./firecrawl.ts");
    const { firecrawl, timeout, maxResponseBytes, maxPageCharacters } = this.#settings;
    if (firecrawl === undefined) throw new Error("Firecrawl is not set up");
    return scrape(url, firecrawl, { timeout, maxResponseBytes }, maxPageCharacters, signal);
  }
}
