/** What the web server is told: which services, which limits, what may be reached; and how the environment says it. */

import { SettingsError } from "../builtin.ts";
import type { DownloadSettings } from "./fetch/download.ts";
import type { KeptLimits } from "./pages.ts";
import type { ReadingLimits } from "./reading/readers.ts";
import type { ServiceAccess } from "./search/search.ts";
import type { SearchAccess } from "./search/services.ts";

export interface WebOptions extends Partial<DownloadSettings & ReadingLimits & KeptLimits> {
  /** Who searches. Default: nobody. */
  search?: SearchAccess;
  /** Lets Firecrawl fetch. Default: the server itself does. */
  firecrawl?: ServiceAccess | undefined;
  /** Results of a search that asks for no number: 1 to 10. Default 5. */
  maxResults?: number | undefined;
  /** Characters of a page that are given where no number is asked for: 1000 to 100,000. Default 20,000. */
  maxCharacters?: number | undefined;
  /** Milliseconds for one search. Default 30,000. */
  searchTimeout?: number;
}

export type WebSettings = Required<Omit<WebOptions, "firecrawl">> &
  Pick<WebOptions, "firecrawl"> & { maxResults: number; maxCharacters: number };

const DEFAULTS: WebSettings = {
  search: {},
  firecrawl: undefined,
  maxResults: 5,
  maxCharacters: 20_000,
  searchTimeout: 30_000,
  privateHosts: [],
  ignoreRobots: false,
  timeout: 30_000,
  maxResponseBytes: 10_000_000,
  maxRedirects: 5,
  userAgent: "patchbay/0.1 (+https://modelcontextprotocol.io; web_fetch)",
  readingTimeout: 30_000,
  maxReaders: 2,
  maxWaiting: 100,
  maxReaderMegabytes: 512,
  maxPageCharacters: 2_000_000,
  keptFor: 900_000,
  maxKeptCharacters: 20_000_000,
};

/** What `max_results` and `max_characters` may be. */
export const RESULTS = { least: 1, most: 10 } as const;
export const CHARACTERS = { least: 1000, most: 100_000 } as const;

/** @throws SettingsError that names the option that cannot be right */
export function settingsOf(options: WebOptions): WebSettings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const settings: WebSettings = { ...DEFAULTS, ...given };
  const { search, firecrawl } = settings;
  checkRange("maxResults", settings.maxResults, RESULTS);
  checkRange("maxCharacters", settings.maxCharacters, CHARACTERS);
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value === "number" && !(value >= (name === "maxRedirects" ? 0 : 1)))
      throw new SettingsError(`${name} has to be a positive number, not ${value}`);
  }
  const urls = { tavily: search.tavily?.url, brave: search.brave?.url, exa: search.exa?.url };
  for (const [name, url] of Object.entries({ ...urls, searxng: search.searxng, firecrawl: firecrawl?.url }))
    if (url !== undefined) checkUrl(name, url);
  return settings;
}

/** The environment variables that `webOptions` reads. */
export const WEB_ENVIRONMENT = [
  "TAVILY_API_KEY",
  "BRAVE_API_KEY",
  "EXA_API_KEY",
  "SEARXNG_URL",
  "FIRECRAWL_API_KEY",
  "FIRECRAWL_API_URL",
  "WEB_SEARCH_MAX_RESULTS",
  "WEB_FETCH_MAX_CHARACTERS",
  "WEB_FETCH_PRIVATE_HOSTS",
  "WEB_FETCH_IGNORE_ROBOTS",
] as const;

/**
 * Options as an environment says them.
 *
 * @throws SettingsError that names the variable that cannot be right
 */
export function webOptions(environment: Readonly<Record<string, string | undefined>>): WebOptions {
  const variable = (name: (typeof WEB_ENVIRONMENT)[number]) => environment[name]?.trim() || undefined;
  const access = (key: string | undefined, url?: string): ServiceAccess | undefined =>
    key === undefined ? undefined : { key, url };
  const count = (name: (typeof WEB_ENVIRONMENT)[number], range: Range): number | undefined => {
    const text = variable(name);
    if (text !== undefined) checkRange(name, Number(text), range);
    return text === undefined ? undefined : Number(text);
  };
  return {
    search: {
      tavily: access(variable("TAVILY_API_KEY")),
      brave: access(variable("BRAVE_API_KEY")),
      exa: access(variable("EXA_API_KEY")),
      searxng: variable("SEARXNG_URL"),
    },
    firecrawl: access(variable("FIRECRAWL_API_KEY"), variable("FIRECRAWL_API_URL")),
    maxResults: count("WEB_SEARCH_MAX_RESULTS", RESULTS),
    maxCharacters: count("WEB_FETCH_MAX_CHARACTERS", CHARACTERS),
    privateHosts: variable("WEB_FETCH_PRIVATE_HOSTS")?.split(/[\s,]+/) ?? [],
    ignoreRobots: /^(?:1|true|yes)$/i.test(variable("WEB_FETCH_IGNORE_ROBOTS") ?? ""),
  };
}

interface Range {
  least: number;
  most: number;
}

function checkRange(name: string, value: number, { least, most }: Range): void {
  if (!Number.isInteger(value) || value < least || value > most)
    throw new SettingsError(`${name} has to be a whole number from ${least} to ${most}, not ${value}`);
}

function checkUrl(name: string, url: string): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new SettingsError(`the URL of ${name} has to begin with http:// or https://`);
}
