/**
 * Requests to where a server sends us: its metadata, and the authorization server that it names. A server that lies
 * must not get us to speak to what only we can reach.
 */

import { lookup as resolve } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { type Place, placeOf } from "@patchbay/core/addresses";
import { Agent, buildConnector, type Dispatcher, request } from "undici";
import { withoutEcho } from "./echo.ts";
import { isLoopback } from "./loopback.ts";

/** Bounds of what is fetched, and exceptions to where it may be. */
export interface ReachOptions {
  /** Hosts that may be at private addresses though the server itself is not. */
  privateHosts: readonly string[];
  /** Milliseconds for one request. */
  requestTimeout: number;
  /** Bytes of one document. */
  maxDocumentBytes: number;
}

/** What `fetch` is given by who uses it here. */
export interface Fetching {
  method?: string | undefined;
  headers?: Record<string, string> | undefined;
  body?: string | URLSearchParams | null | undefined;
  signal?: AbortSignal | undefined;
}

/** Why nothing was fetched; the message is fit to be shown, and holds no secret. */
export class ReachError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ReachError";
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 3;

export class Reach {
  readonly #home: string;
  readonly #options: ReachOptions;
  readonly #agent: Agent;
  /** Where the server itself was found to be, once something was fetched from it. */
  #homePlace: Place;

  /** @param home the server, which the user has named: it may be anywhere */
  constructor(home: URL, options: ReachOptions) {
    this.#home = home.hostname;
    this.#options = options;
    this.#homePlace = isLoopback(home.hostname) ? "loopback" : "public";
    const lookup: LookupFunction = (hostname, { all }, callback) => {
      this.#resolve(hostname).then(
        (found) => {
          if (all === true) callback(null, found);
          else callback(null, found[0]?.address as string, found[0]?.family as number);
        },
        (error) => callback(error, []),
      );
    };
    const connect = buildConnector({ timeout: options.requestTimeout, lookup });
    this.#agent = new Agent({
      connect: (target, callback) =>
        connect(target, (...[error, socket]) => {
          if (error !== null) return callback(error, null);
          // Over TLS, or on this machine, who answers is who was meant: a resolver that lies gains nothing.
          if (target.hostname === this.#home && socket.remoteAddress !== undefined)
            this.#homePlace = placeOf(socket.remoteAddress);
          callback(null, socket);
        }),
      // One connection for each request: nothing is left open.
      pipelining: 0,
    });
  }

  /**
   * Sends a request, as `fetch` does. A redirect is followed where nothing was sent along, and stays on its origin.
   *
   * @throws ReachError when the URL may not be asked, or gives no whole answer
   */
  readonly fetch = async (url: string, options: Fetching = {}): Promise<Response> => {
    let response = await this.#send(this.check(url), options);
    for (let hops = 0; hops < MAX_REDIRECTS && isRead(options) && REDIRECTS.has(response.status); hops++) {
      const location = response.headers.get("location") ?? "";
      const next = URL.canParse(location, url) ? new URL(location, url) : undefined;
      if (next === undefined || next.origin !== new URL(url).origin) break;
      response = await this.#send(this.check(next.href), options);
    }
    if (REDIRECTS.has(response.status))
      throw new ReachError(`${shown(url)} redirects to elsewhere, which is not followed`);
    return response;
  };

  /** The body of a GET as an object; nothing where there is no such document. */
  async document(url: string, options: Fetching = {}): Promise<Record<string, unknown> | undefined> {
    const response = await this.fetch(url, {
      ...options,
      headers: { ...options.headers, accept: "application/json" },
    });
    if (response.status >= 500) throw new ReachError(`${shown(url)} answered ${response.status}`);
    if (response.status !== 200) return undefined;
    try {
      const body: unknown = await response.json();
      return typeof body === "object" && body !== null && !Array.isArray(body) ? { ...body } : undefined;
    } catch {
      // Some sites have a page for each path.
      return undefined;
    }
  }

  /**
   * A URL that a server named, if it may be used.
   *
   * @throws ReachError when it is not https (http on this machine), or leads where it may not
   */
  check(named: string): URL {
    if (!URL.canParse(named)) throw new ReachError(`${JSON.stringify(named.slice(0, 200))} is not a URL`);
    const url = new URL(named);
    const { protocol, hostname } = url;
    if (protocol !== "https:" && !(protocol === "http:" && isLoopback(hostname)))
      throw new ReachError(`${shown(named)} is not https (http is for this machine alone)`);
    if (url.username !== "" || url.password !== "")
      throw new ReachError(`${shown(named)} names a user, which no such URL may`);
    const literal = hostname.replace(/^\[|\]$/g, "");
    if (isIP(literal) !== 0) this.#checkPlace(hostname, placeOf(literal));
    else if (isLoopback(hostname)) this.#checkPlace(hostname, "loopback");
    return url;
  }

  async #resolve(hostname: string): Promise<{ address: string; family: number }[]> {
    const found = await resolve(hostname, { all: true });
    for (const { address } of found) this.#checkPlace(hostname, placeOf(address));
    return found;
  }

  #checkPlace(hostname: string, place: Place): void {
    if (place === "public" || hostname === this.#home || this.#options.privateHosts.includes(hostname))
      return;
    const near = place === "loopback" ? isLoopback(this.#home) : this.#homePlace !== "public";
    if (place === "forbidden" || !near) {
      throw new ReachError(
        `${hostname} is at a ${place} address, and the server that named it is not; ` +
          "if that is right, add it to privateHosts",
      );
    }
  }

  async #send(url: URL, { method = "GET", headers, body, signal }: Fetching): Promise<Response> {
    const { requestTimeout } = this.#options;
    const timeout = AbortSignal.timeout(requestTimeout);
    try {
      const response = await request(url, {
        dispatcher: this.#agent,
        method: method as Dispatcher.HttpMethod,
        headers: { "user-agent": "patchbay", ...headers },
        body: body === undefined || body === null ? null : String(body),
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      const whole = await this.#read(url, response.body);
      const text = response.statusCode < 400 ? whole : withoutEcho(whole, body, headers);
      return new Response(response.statusCode === 204 || response.statusCode === 304 ? null : text, {
        status: response.statusCode,
        headers: flat(response.headers),
      });
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      if (timeout.aborted) {
        const what = `${shown(url.href)} did not answer within requestTimeout (${requestTimeout} ms)`;
        throw new ReachError(what);
      }
      if (error instanceof ReachError) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw new ReachError(`${shown(url.href)} could not be reached (${code ?? message})`, { cause: error });
    }
  }

  async #read(url: URL, body: AsyncIterable<Buffer>): Promise<string> {
    const { maxDocumentBytes } = this.#options;
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxDocumentBytes) {
        throw new ReachError(`${shown(url.href)} sent more than maxDocumentBytes (${maxDocumentBytes})`);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  }
}

/** Nothing goes along that could be a secret. */
function isRead({ method = "GET", headers = {} }: Fetching): boolean {
  return method === "GET" && !Object.keys(headers).some((name) => /^(?:authorization|dpop)$/i.test(name));
}

/** A URL without what may be a secret. */
export function shown(url: string): string {
  if (!URL.canParse(url)) return JSON.stringify(url.slice(0, 200));
  const { origin, protocol, pathname } = new URL(url);
  return ((origin === "null" ? protocol : origin) + pathname).slice(0, 300);
}

function flat(headers: Record<string, string | string[] | undefined>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, one]),
  );
}
