/** The MCP endpoint: one URL for both eras, over any carrier of HTTP (basic/transports/streamable-http). */

import {
  ErrorCode,
  type ErrorMessage,
  eraOf,
  type InvalidMessage,
  NO_BATCHES,
  parseMessages,
  type RequestId,
  type RequestMessage,
  type ResultMessage,
  writeError,
} from "@patchbay/core";
import { type AuthOptions, createGate, type Gate } from "../../auth/gate.ts";
import { Shares } from "../../auth/shares.ts";
import { declaredVersion } from "../../modern/envelope.ts";
import { type SubscriptionLimits, Subscriptions } from "../../modern/subscriptions.ts";
import type { McpServer } from "../../server.ts";
import { memorySessions } from "../../sessions/memory.ts";
import type { SessionStore } from "../../sessions/store.ts";
import { BodyTooLargeError, type HttpExchange } from "./exchange.ts";
import { allowOrigin, createGuard, type GuardOptions } from "./guard.ts";
import { accepts, unreadable } from "./headers.ts";
import { LegacyEndpoint } from "./legacy.ts";
import { serveModern } from "./modern.ts";
import { fail, METHODS, refuse, refuseForNow, refuseMethod, refuseTooLarge, sendJson } from "./responses.ts";

export interface EndpointOptions extends GuardOptions, SubscriptionLimits {
  /** Lets in only requests with a good token. Default: anybody. */
  auth?: AuthOptions;
  /** Bytes in one request's body. Default 4 MiB. */
  maxMessageBytes?: number;
  /** Bytes of a stream that may wait for its reader, which is dropped beyond. Default 4 MiB. */
  maxBufferedBytes?: number;
  /** Where legacy sessions live, or `"stateless"` for none. Default: this process's memory. */
  sessions?: SessionStore | "stateless";
  /** Milliseconds that a legacy client is given to answer a request of ours. Default 10 minutes. */
  answerTimeout?: number;
  /** Requests of one legacy session that may be in flight at once; one more is refused. Default 1024. */
  maxInFlight?: number;
  /** Modern requests of the whole endpoint that may be in flight at once. Default 10,000. */
  maxRequests?: number;
  /** Requests of one principal that may be in flight at once, where requests are authorized. Default 2000. */
  maxRequestsPerPrincipal?: number;
  /** Streams of one principal, in all their legacy sessions, that may be open at once. Default 1000. */
  maxStreamsPerPrincipal?: number;
  /** Milliseconds between the comments that keep an idle stream open. Default 15 s. */
  keepAlive?: number;
  /** Messages in one batch of 2025-03-26. Default 100. */
  maxBatch?: number;
  /** Events of a legacy stream that are kept for a client that comes back; 0 for none. Default 1000. */
  maxEvents?: number;
  /** Characters of the events that all legacy streams keep together; the oldest are let go. Default 64 Mi. */
  maxKeptBytes?: number;
}

/** One MCP endpoint. */
export interface Endpoint {
  /** Takes one HTTP request and sees to its response. */
  handle(http: HttpExchange): void;
  /**
   * Takes no more requests, and ends what is open gracefully: subscriptions get their result, streams end,
   * requests in flight are answered.
   */
  end(): void;
  /** Ends what is left of it. */
  stop(): void;
  /** Legacy sessions in which something goes on: a request, a question, a stream. */
  readonly live: number;
  /** How many legacy sessions its store has; not where that does not count them. */
  readonly countSessions: (() => number | Promise<number>) | undefined;
  /** Modern subscriptions that are open. */
  readonly subscriptions: number;
  /** Characters of events that legacy streams keep. */
  readonly kept: number;
}

const MIB = 1024 * 1024;
/** The verbs of this endpoint for a client that speaks a revision without sessions and GET streams. */
const MODERN_METHODS = "POST, OPTIONS";
const CLOSING = { code: ErrorCode.InternalError, message: "This server is closing" };

/**
 * @param boundTo the address that the HTTP server listens on; nothing where that is not known
 * @param gate the one that `options.auth` asks for, where it is there already
 * @throws Error when that address needs `allowedHosts`, or `auth` or `sessions` is not complete
 */
export function createEndpoint(
  server: McpServer,
  boundTo: string | undefined,
  options: EndpointOptions = {},
  gate: Gate | undefined = options.auth && createGate(server, options.auth),
): Endpoint {
  const {
    maxMessageBytes = 4 * MIB,
    maxBufferedBytes = 4 * MIB,
    keepAlive = 15_000,
    answerTimeout,
    maxInFlight = 1024,
    maxBatch = 100,
    maxEvents = 1000,
    maxRequestsPerPrincipal = 2000,
    maxStreamsPerPrincipal = 1000,
  } = options;
  const requests = new Shares(
    "maxRequestsPerPrincipal",
    "requests of yours are in flight",
    maxRequestsPerPrincipal,
  );
  const streams = new Shares("maxStreamsPerPrincipal", "streams of yours are open", maxStreamsPerPrincipal);
  const guard = createGuard(boundTo, options);
  const subscriptions = new Subscriptions(options, false);
  const sessions = storeOf(options.sessions);
  const legacy = new LegacyEndpoint(server, sessions, {
    answerTimeout,
    maxInFlight,
    maxBufferedBytes,
    keepAlive,
    maxBatch,
    maxEvents,
    maxKeptBytes: options.maxKeptBytes ?? 64 * MIB,
    maxWatched: options.maxWatched,
    shares: { requests, streams },
  });
  const modernOptions = {
    maxBufferedBytes,
    keepAlive,
    running: { count: 0, max: options.maxRequests ?? 10_000 },
    shares: requests,
  };
  let ending = false;

  function post(http: HttpExchange): void {
    const why = unreadable(http);
    if (why !== undefined) {
      return refuse(http, 415, `Unsupported media type: ${why}`);
    }
    if (!accepts(http.header("accept"), "application/json", "text/event-stream")) {
      return refuse(http, 406, "Not acceptable: Accept must list application/json and text/event-stream");
    }
    http.readBody(maxMessageBytes, (text, failure) => {
      if (failure === undefined) return receive(text, http);
      if (!(failure instanceof BodyTooLargeError)) return http.destroy();
      refuseTooLarge(http, maxMessageBytes);
    });
  }

  function receive(text: string, http: HttpExchange): void {
    const message = parseMessages(text);
    if (Array.isArray(message)) {
      if (saysModern(http)) return sendJson(http, 400, writeError(undefined, NO_BATCHES.error));
      return see(() => legacy.batch(message, http), http);
    }
    switch (message.kind) {
      case "request":
        if (isModern(message, http)) return serveModern(server, message, http, subscriptions, modernOptions);
        return see(
          () =>
            message.method === "initialize"
              ? legacy.initialize(message, http)
              : legacy.request(message, http),
          http,
          message.id,
        );
      case "notification":
        // No notification of this era means anything over HTTP (streamable-http § Sending Messages).
        if (saysModern(http)) return http.respond(202);
        return see(() => legacy.tell(message, http), http);
      case "invalid":
        if (message.isResponse) return takeResponse(message, http);
        return sendJson(http, 400, writeError(message.id, message.error));
      default:
        return takeResponse(message, http);
    }
  }

  function takeResponse(message: ResultMessage | ErrorMessage | InvalidMessage, http: HttpExchange): void {
    if (!saysModern(http)) return see(() => legacy.tell(message, http), http);
    refuse(http, 400, "No request is waiting for this response: a server of this revision sends no requests");
  }

  function see(work: () => void | Promise<void>, http: HttpExchange, id?: RequestId): void {
    const failed = (thrown: unknown): void => fail(server, http, thrown, id);
    try {
      work()?.catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  }

  function admitted(http: HttpExchange): void {
    switch (http.method) {
      case "POST":
        return post(http);
      case "GET":
        // Who speaks a revision without a GET stream is told so (streamable-http § Earlier Revisions).
        if (!saysModern(http)) return see(() => legacy.listen(http), http);
        break;
      case "DELETE":
        if (!saysModern(http)) return see(() => legacy.delete(http), http);
        break;
      case "OPTIONS":
        http.setHeader("allow", METHODS);
        return http.respond(204);
    }
    refuseMethod(http, "send each message by POST", saysModern(http) ? MODERN_METHODS : METHODS);
  }

  return {
    handle(http) {
      const refused = guard(http);
      if (refused !== undefined) return refuse(http, 403, refused);
      allowOrigin(http);
      if (ending) return refuseForNow(http, CLOSING);
      if (gate === undefined) admitted(http);
      else gate.admit(http, admitted);
    },
    end() {
      ending = true;
      subscriptions.end();
      legacy.end();
    },
    stop: () => legacy.stop(),
    countSessions: sessions?.count?.bind(sessions),
    get live() {
      return legacy.live;
    },
    get subscriptions() {
      return subscriptions.size;
    },
    get kept() {
      return legacy.kept;
    },
  };
}

/**
 * @returns nothing where there are no sessions
 * @throws TypeError for what is no store, as plain JavaScript may give it
 */
function storeOf(sessions: EndpointOptions["sessions"] = memorySessions()): SessionStore | undefined {
  if (sessions === "stateless") return undefined;
  if (typeof sessions === "object" && typeof sessions?.create === "function") return sessions;
  throw new TypeError(
    'sessions takes "stateless", or a store such as memorySessions(), sealedSessions({ … }) gives',
  );
}

/** A request is modern by what its body declares; one that lacks its `_meta` says by its header what it is. */
function isModern(message: RequestMessage, http: HttpExchange): boolean {
  if (declaredVersion(message.params) !== undefined) return true;
  return message.method !== "initialize" && saysModern(http);
}

function saysModern(http: HttpExchange): boolean {
  const version = http.header("mcp-protocol-version");
  return version !== undefined && /^\d{4}-\d\d-\d\d$/.test(version) && eraOf(version) === "modern";
}
