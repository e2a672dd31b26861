/** Where HTTP requests to one server go: its origin, its path, and the connections to it. */

import type { IncomingHttpHeaders } from "node:http";
import { ConnectionError } from "../errors.ts";
import type { Settings } from "../options.ts";
import { AuthorizedRequest } from "./authorized.ts";
import { Connections } from "./connections.ts";
import { baseHeaders } from "./http-headers.ts";
import { type Reply, type ReplyListener, ReplyReader } from "./reply.ts";
import type { PostLimit } from "./transport.ts";

/** A server behind a URL, with headers to send along. */
export interface HttpTarget {
  url: string | URL;
  /** Sent with each request. Headers that the protocol itself sets are not taken from here. */
  headers?: Readonly<Record<string, string>>;
}

const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 307, 308]);
const NO_LIMIT = 0;

export class HttpEndpoint {
  /** The server, as errors name it: neither the query nor the user may be shown, both are where secrets are put. */
  readonly serverName: string;
  readonly origin: string;
  readonly #headers: readonly string[];
  readonly #settings: Settings;
  readonly #pool: Connections;
  #streams: Connections | undefined;
  #path: string;
  #redirects = 0;

  /** @throws TypeError when the URL is none, or not of HTTP, or a header cannot be one */
  constructor({ url, headers = {} }: HttpTarget, settings: Settings) {
    const { origin, pathname, search, username, password } = parseUrl(url);
    this.origin = origin;
    this.serverName = origin + pathname;
    this.#path = pathname + search;
    this.#headers = baseHeaders(headers, username, password);
    this.#settings = settings;
    this.#pool = this.#connect(settings.maxConnections);
  }

  /** The URL that requests go to now. */
  get url(): string {
    return this.origin + this.#path;
  }

  /** @param path of another endpoint on the same origin */
  post(headers: readonly string[], body: string, listener: ReplyListener, path = this.#path): Reply {
    return this.#dispatch(this.#pool, "POST", path, headers, body, listener);
  }

  /**
   * Waits for what the server need only take; a server that does not has as long as for a request, or for connecting.
   *
   * @throws ConnectionError when that is over
   */
  withinTime(
    limit: PostLimit,
    post: (resolve: () => void, reject: (error: Error) => void) => Reply | undefined,
  ): Promise<void> {
    const { [limit]: ms } = this.#settings;
    return new Promise<void>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const end = (then: () => void) => {
        clearTimeout(timer);
        then();
      };
      const reply = post(
        () => end(resolve),
        (error) => end(() => reject(error)),
      );
      const onTimeout = () => {
        if (reply?.isWaiting === true) {
          timer = setTimeout(onTimeout, ms).unref();
          return;
        }
        reply?.abort();
        const what = `${this.serverName} did not take a message within ${limit} (${ms} ms)`;
        reject(new ConnectionError("silent", what, { mayHaveRun: true }));
      };
      timer = setTimeout(onTimeout, ms).unref();
    });
  }

  /** A POST whose response stays open; it takes no connection away from the others. */
  postForStream(headers: readonly string[], body: string, listener: ReplyListener): Reply {
    return this.#dispatch(this.#longLived(), "POST", this.#path, headers, body, listener);
  }

  /** A GET whose response stays open. */
  getStream(headers: readonly string[], listener: ReplyListener): Reply {
    return this.#dispatch(this.#longLived(), "GET", this.#path, headers, null, listener);
  }

  /** Asks for a deletion; whether the server minds is its own affair. */
  async delete(headers: readonly string[]): Promise<void> {
    try {
      const signal = AbortSignal.timeout(this.#settings.closeTimeout);
      const request = { method: "DELETE", url: this.url, signal };
      const credentials = (await this.#settings.authorization?.headersFor(request)) ?? [];
      const { body } = await this.#pool.request({
        path: this.#path,
        method: "DELETE",
        headers: [...this.#headers, ...credentials, ...headers],
        signal,
      });
      await body.dump();
    } catch {
      // What is not deleted will expire.
    }
  }

  /** Goes where a redirect points, if that is on the same origin: elsewhere our headers are nobody's business. */
  follow(status: number, { location }: IncomingHttpHeaders): boolean {
    if (!REDIRECTS.has(status) || location === undefined || this.#redirects >= MAX_REDIRECTS) return false;
    const path = this.pathTo(location);
    if (path === undefined) return false;
    this.#redirects++;
    this.#path = path;
    return true;
  }

  /** The path of a URL that is relative to this one; nothing when it is none, or on another origin. */
  pathTo(relative: string): string | undefined {
    if (!URL.canParse(relative, this.url)) return undefined;
    const { origin, pathname, search } = new URL(relative, this.url);
    return origin === this.origin ? pathname + search : undefined;
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.destroy(), this.#streams?.destroy()]);
  }

  #dispatch(
    pool: Connections,
    method: "GET" | "POST",
    path: string,
    headers: readonly string[],
    body: string | null,
    listener: ReplyListener,
  ): Reply {
    const { authorization } = this.#settings;
    if (authorization === undefined) return this.#send(pool, method, path, headers, body, listener);
    const request = { method, url: this.origin + path };
    return new AuthorizedRequest(authorization, request, listener, (credentials, heard) =>
      this.#send(pool, method, path, [...credentials, ...headers], body, heard),
    );
  }

  #send(
    pool: Connections,
    method: "GET" | "POST",
    path: string,
    headers: readonly string[],
    body: string | null,
    listener: ReplyListener,
  ): Reply {
    const reply = new ReplyReader(listener, this.serverName, this.#settings.maxMessageBytes, pool.rest);
    pool.dispatch({ path, method, headers: [...this.#headers, ...headers], body }, reply);
    return reply;
  }

  #longLived(): Connections {
    this.#streams ??= this.#connect(Number.POSITIVE_INFINITY);
    return this.#streams;
  }

  #connect(maxConnections: number): Connections {
    return new Connections(this.origin, {
      connections: Number.isFinite(maxConnections) ? maxConnections : null,
      connect: { timeout: this.#settings.connectTimeout },
      // Each request has a time limit of its own.
      headersTimeout: NO_LIMIT,
      bodyTimeout: NO_LIMIT,
    });
  }
}

function parseUrl(target: string | URL): URL {
  const text = String(target);
  if (!URL.canParse(text)) throw new TypeError(`"${text.slice(0, 200)}" is not a URL`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TypeError(`A server's URL starts with http:// or https://, not ${url.protocol}`);
  }
  return url;
}
