/** Gets what is at a URL: hop by hop, each of them checked, within a time and a size. */

import { Guard } from "./guard.ts";
import { type Answered, Requests } from "./request.ts";
import { allows, MAX_ROBOTS_BYTES, parseRobots, type Rules } from "./robots.ts";

export interface DownloadSettings {
  /** `host` or `host:port` that may be on this machine or in its network. */
  privateHosts: readonly string[];
  ignoreRobots: boolean;
  /** Milliseconds for all of it: robots.txt, redirects, and the page to its last byte. */
  timeout: number;
  /** Bytes of one answer, decoded. */
  maxResponseBytes: number;
  maxRedirects: number;
  userAgent: string;
}

export interface Downloaded {
  /** Where it was found, after all redirects. */
  url: URL;
  contentType: string;
  bytes: Uint8Array;
}

const PROGRAM = "patchbay";
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const ACCEPT =
  "text/html,application/xhtml+xml,text/markdown,text/plain,application/json,application/pdf;q=0.9,*/*;q=0.5";
/** How long a site's rules are kept, and of how many sites. */
const ROBOTS_TTL = 3_600_000;
const MAX_SITES = 1000;

export class Downloads {
  readonly guard: Guard;
  readonly #settings: DownloadSettings;
  readonly #requests: Requests;
  readonly #robots = new Map<string, { rules: Rules | undefined; until: number }>();

  constructor(settings: DownloadSettings) {
    this.#settings = settings;
    this.guard = new Guard(settings.privateHosts);
    this.#requests = new Requests(this.guard, settings.userAgent, settings.timeout);
  }

  /**
   * @param told hears what goes on
   * @throws Error whose message may be shown; when `signal` aborts, its reason
   */
  async get(start: URL, signal: AbortSignal, told: (what: string) => void): Promise<Downloaded> {
    const { timeout } = this.#settings;
    const deadline = AbortSignal.timeout(timeout);
    try {
      return await this.#follow(start, AbortSignal.any([signal, deadline]), told);
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) throw new Error(`${start.host} took longer than timeout allows (${timeout} ms)`);
      throw error;
    }
  }

  async #follow(start: URL, signal: AbortSignal, told: (what: string) => void): Promise<Downloaded> {
    const { maxRedirects } = this.#settings;
    let url = start;
    for (let hops = 0; hops <= maxRedirects; hops++) {
      this.guard.check(url);
      if (!this.#settings.ignoreRobots) await this.#checkRobots(url, signal);
      told(`asking ${url.host}`);
      const answered = await this.#requests.get(url, ACCEPT, signal);
      const next = redirectOf(answered, url);
      if (next === undefined) return this.#read(url, answered, told);
      answered.drop();
      url = next;
    }
    throw new Error(`${start.host} redirects more often than maxRedirects allows (${maxRedirects})`);
  }

  async #read(url: URL, answered: Answered, told: (what: string) => void): Promise<Downloaded> {
    const { maxResponseBytes } = this.#settings;
    const { status, headers } = answered;
    if (status < 200 || status > 299) {
      answered.drop();
      throw new Error(`${shown(url)} answered HTTP ${status}${adviceFor(status)}`);
    }
    let step = 0;
    const { bytes, whole } = await answered.read(maxResponseBytes, (size) => {
      if (size < step) return;
      step = size + 250_000;
      told(`received ${Math.ceil(size / 1000)} kB`);
    });
    if (!whole) throw new Error(`${shown(url)} is larger than maxResponseBytes allows (${maxResponseBytes})`);
    return { url, contentType: [headers["content-type"] ?? ""].flat()[0] ?? "", bytes };
  }

  async #checkRobots(url: URL, signal: AbortSignal): Promise<void> {
    const rules = await this.#rulesOf(url, signal);
    if (rules === undefined)
      throw new Error(
        `${url.host} has a robots.txt that cannot be read now, so nothing is fetched there; try again later`,
      );
    if (!allows(rules, url))
      throw new Error(
        `${url.host} asks programs not to fetch ${url.pathname.slice(0, 200)} (robots.txt); the operator of this server can set that aside (--ignore-robots, WEB_FETCH_IGNORE_ROBOTS)`,
      );
  }

  /** A site without a robots.txt forbids nothing; one whose robots.txt fails forbids all (RFC 9309, 2.3.1). */
  async #rulesOf({ origin }: URL, signal: AbortSignal): Promise<Rules | undefined> {
    const known = this.#robots.get(origin);
    if (known !== undefined && known.until > Date.now()) return known.rules;
    let url = new URL("/robots.txt", origin);
    let answered = await this.#requests.get(url, "text/plain", signal);
    for (let hops = 0; hops < this.#settings.maxRedirects; hops++) {
      const next = redirectOf(answered, url);
      if (next === undefined) break;
      answered.drop();
      url = next;
      answered = await this.#requests.get(url, "text/plain", signal);
    }
    const { status } = answered;
    let rules: Rules | undefined = [];
    if (status >= 200 && status < 300)
      rules = parseRobots((await answered.read(MAX_ROBOTS_BYTES)).bytes.toString("utf8"), PROGRAM);
    else {
      answered.drop();
      if (status >= 500) return undefined;
    }
    this.#robots.delete(origin);
    this.#robots.set(origin, { rules, until: Date.now() + ROBOTS_TTL });
    for (const oldest of this.#robots.keys()) {
      if (this.#robots.size <= MAX_SITES) break;
      this.#robots.delete(oldest);
    }
    return rules;
  }
}

function redirectOf({ status, headers }: Answered, url: URL): URL | undefined {
  const [sent = ""] = [headers.location ?? ""].flat();
  if (!REDIRECTS.has(status) || sent === "") return undefined;
  // Headers are read as Latin 1, and sites write UTF-8.
  const location = Buffer.from(sent, "latin1").toString("utf8");
  if (!URL.canParse(location, url.href)) throw new Error(`${url.host} redirects to what is no URL`);
  const next = new URL(location, url);
  if (next.hash === "") next.hash = url.hash;
  return next;
}

const ADVICE = new Map([
  [401, ": it wants to know who asks, and web_fetch has no account"],
  [403, ": it does not let this program in"],
  [404, ": there is no such page"],
  [410, ": the page is gone"],
  [429, ": it takes no more requests for now; try again later"],
]);

function adviceFor(status: number): string {
  return ADVICE.get(status) ?? (status >= 500 ? ": it is out of order; try again later" : "");
}

function shown(url: URL): string {
  return `${url.host}${url.pathname}`.slice(0, 300);
}
