/** A server behind a URL: each message is a POST (basic/transports/streamable-http; 2025-11-25, basic/transports). */

import type { IncomingHttpHeaders } from "node:http";
import { eraOf, type Revision, writeNotification } from "@patchbay/core";
import { Pool } from "undici";
import { ConnectionError } from "../errors.ts";
import type { Settings } from "../options.ts";
import { networkFailure, refusal } from "./http-errors.ts";
import { baseHeaders, encodeHeaderValue } from "./http-headers.ts";
import { Post, type PostListener } from "./post.ts";
import type { Receiver, RequestHead, Transport } from "./transport.ts";

/** A server behind a URL, with headers to send along. */
export interface HttpTarget {
  url: string | URL;
  /** Sent with each request. Headers that the protocol itself sets are not taken from here. */
  headers?: Readonly<Record<string, string>>;
}

/** A request that has no answer yet. */
interface Sent {
  readonly text: string;
  readonly head: RequestHead;
  post: Post | undefined;
  /** A lost session was replaced for it once; it is not done twice. */
  renewed: boolean;
}

const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 307, 308]);
const NO_LIMIT = 0;

/** Requests as POSTs over a pool of connections to one origin. */
export class HttpTransport implements Transport {
  readonly serverName: string;
  /** Opens a new session when the server has forgotten ours. Set once a legacy session is open. */
  renewSession: (() => Promise<void>) | undefined;
  readonly #settings: Settings;
  readonly #origin: string;
  readonly #pool: Pool;
  readonly #headers: readonly string[];
  readonly #inFlight = new Map<number, Sent>();
  #receiver!: Receiver;
  #path: string;
  #redirects = 0;
  #revisionHeader: readonly string[] = [];
  #modern = true;
  #session: string | undefined;
  #renewal: Promise<void> | undefined;

  constructor({ url, headers = {} }: HttpTarget, settings: Settings) {
    const { origin, pathname, search, username, password } = parseUrl(url);
    this.#settings = settings;
    this.#origin = origin;
    this.#path = pathname + search;
    // Neither the query nor the user may be shown: both are where secrets are put.
    this.serverName = origin + pathname;
    this.#headers = baseHeaders(headers, username, password);
    this.#pool = new Pool(origin, {
      connections: settings.maxConnections,
      connect: { timeout: settings.connectTimeout },
      // Each request has a time limit of its own.
      headersTimeout: NO_LIMIT,
      bodyTimeout: NO_LIMIT,
    });
  }

  listen(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  send(text: string, head: RequestHead): void {
    const sent: Sent = { text, head, post: undefined, renewed: false };
    this.#inFlight.set(head.id, sent);
    if (this.#renewal === undefined || head.method === "initialize") this.#dispatch(sent);
    else this.#afterRenewal(sent);
  }

  post(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const listener: PostListener = {
        onHeaders() {},
        onMessage() {},
        onEnd: resolve,
        onRefusal: (status, headers, body) => {
          if (this.#follow(status, headers)) this.#start(text, undefined, listener);
          else reject(refusal(this.serverName, status, headers, body));
        },
        onError: (error) => reject(networkFailure(this.serverName, error)),
      };
      this.#start(text, undefined, listener);
    });
  }

  cancel(requestId: number, reason: string, notify: boolean): void {
    const sent = this.#inFlight.get(requestId);
    if (sent === undefined) return;
    this.#inFlight.delete(requestId);
    // To a modern server the closed response says it all; a legacy one takes that for a broken connection.
    if (!this.#modern && notify) {
      this.post(writeNotification("notifications/cancelled", { requestId, reason })).catch(() => {
        // The request is given up whether the server hears of it or not.
      });
    }
    sent.post?.abort();
  }

  adopt(revision: Revision): void {
    this.#modern = eraOf(revision) === "modern";
    this.#revisionHeader = ["mcp-protocol-version", revision];
  }

  probeExpired(): Promise<void> {
    // Silence is no sign of a legacy server here: there is a status and a body to tell by.
    return new Promise(() => {});
  }

  evidence(): string {
    return "";
  }

  async close(): Promise<void> {
    for (const { post } of this.#inFlight.values()) post?.abort();
    this.#inFlight.clear();
    if (this.#session !== undefined) await this.#deleteSession(this.#session);
    await this.#pool.destroy();
  }

  #dispatch(sent: Sent): void {
    const { head, text } = sent;
    const session = this.#session;
    const unanswered = () => this.#inFlight.get(head.id) === sent;
    const fail = (error: Error) => {
      if (!unanswered()) return;
      this.#inFlight.delete(head.id);
      this.#receiver.onFailure(head.id, error);
    };
    sent.post = this.#start(text, head, {
      onHeaders: (headers) => {
        if (head.method === "initialize") this.#session = sessionOf(headers);
      },
      onMessage: (message) => {
        const isAnswer = message.kind !== "notification" && message.kind !== "request";
        if (isAnswer && unanswered() && this.#receiver.onMessage(message, head.id)) {
          this.#inFlight.delete(head.id);
          sent.post?.finish();
        } else if (!isAnswer) {
          this.#receiver.onMessage(message, head.id);
        }
      },
      onEnd: () =>
        fail(new ConnectionError("closed", `${this.serverName} ended ${head.method} without an answer`)),
      onRefusal: (status, headers, body) => {
        if (!unanswered()) return;
        if (this.#follow(status, headers)) this.#dispatch(sent);
        else if (status === 404 && session !== undefined && !sent.renewed) this.#renew(sent, session);
        else fail(refusal(this.serverName, status, headers, body));
      },
      onError: (error) => fail(networkFailure(this.serverName, error)),
    });
  }

  #start(text: string, head: RequestHead | undefined, listener: PostListener): Post {
    const post = new Post(listener, this.serverName, this.#settings.maxMessageBytes);
    this.#pool.dispatch(
      { path: this.#path, method: "POST", headers: this.#headersFor(head), body: text },
      post,
    );
    return post;
  }

  /** What intermediaries may read without the body (streamable-http § Request Metadata). */
  #headersFor(head: RequestHead | undefined): string[] {
    const headers = [...this.#headers];
    // Before a legacy session is open there is no revision to name.
    if (head?.method !== "initialize") {
      headers.push(...this.#revisionHeader);
      if (this.#session !== undefined) headers.push("mcp-session-id", this.#session);
    }
    if (this.#modern && head !== undefined) {
      headers.push("mcp-method", head.method);
      if (head.name !== undefined) headers.push("mcp-name", encodeHeaderValue(head.name));
    }
    return headers;
  }

  /** Goes where a redirect points, if that is on the same origin: elsewhere our headers are nobody's business. */
  #follow(status: number, { location }: IncomingHttpHeaders): boolean {
    if (!REDIRECTS.has(status) || location === undefined || this.#redirects >= MAX_REDIRECTS) return false;
    const base = this.#origin + this.#path;
    if (!URL.canParse(location, base)) return false;
    const { origin, pathname, search } = new URL(location, base);
    if (origin !== this.#origin) return false;
    this.#redirects++;
    this.#path = pathname + search;
    return true;
  }

  /** The server has forgotten our session: a new one, opened once for all who wait, then the request again. */
  #renew(sent: Sent, lost: string): void {
    sent.renewed = true;
    if (this.#session === lost && this.#renewal === undefined && this.renewSession !== undefined) {
      this.#renewal = this.renewSession().finally(() => {
        this.#renewal = undefined;
      });
    }
    this.#afterRenewal(sent);
  }

  #afterRenewal(sent: Sent): void {
    const { id } = sent.head;
    Promise.resolve(this.#renewal).then(
      () => {
        if (this.#inFlight.get(id) === sent) this.#dispatch(sent);
      },
      (error: Error) => {
        if (this.#inFlight.delete(id)) this.#receiver.onFailure(id, error);
      },
    );
  }

  /** Tells a legacy server that its session is over; whether it minds is its own affair. */
  async #deleteSession(session: string): Promise<void> {
    const headers = [...this.#headers, ...this.#revisionHeader, "mcp-session-id", session];
    const signal = AbortSignal.timeout(this.#settings.closeTimeout);
    try {
      const response = await this.#pool.request({ path: this.#path, method: "DELETE", headers, signal });
      await response.body.dump();
    } catch {
      // It will expire.
    }
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

/** The session that a legacy server opened; only visible ASCII may be one (2025-11-25, § Session Management). */
function sessionOf(headers: IncomingHttpHeaders): string | undefined {
  const session = headers["mcp-session-id"];
  return typeof session === "string" && /^[\x21-\x7e]{1,1024}$/.test(session) ? session : undefined;
}
