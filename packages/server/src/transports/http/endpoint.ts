/** The MCP endpoint over Node's HTTP: one URL for both eras (basic/transports/streamable-http). */

import type { IncomingMessage, ServerResponse } from "node:http";
import {
  ErrorCode,
  type ErrorMessage,
  eraOf,
  isRevision,
  LATEST_LEGACY,
  LEGACY_REVISIONS,
  type NotificationMessage,
  ProtocolError,
  parseMessage,
  type RequestId,
  type RequestMessage,
  type ResultMessage,
  wireOf,
  writeError,
} from "@patchbay/core";
import { type Answer, answer, errorAnswer } from "../../answer.ts";
import { Call, type Caller } from "../../exchange.ts";
import { LiveSession } from "../../legacy/live-session.ts";
import { legacyReply } from "../../legacy/methods.ts";
import { pushDialogue } from "../../legacy/push.ts";
import { callerOf, initialize, type SessionRecord, strangerSession } from "../../legacy/session.ts";
import { declaredVersion, ENVELOPE_WIRE, readEnvelope } from "../../modern/envelope.ts";
import { modernCall, modernReply } from "../../modern/methods.ts";
import { type SubscriptionLimits, Subscriptions } from "../../modern/subscriptions.ts";
import type { McpServer } from "../../server.ts";
import { memorySessions } from "../../sessions/memory.ts";
import type { SessionStore } from "../../sessions/store.ts";
import { BodyTooLargeError, readBody } from "./body.ts";
import { createGuard, type GuardOptions } from "./guard.ts";
import { checkMirrorHeaders } from "./headers.ts";
import { DEFAULT_MAX_BUFFERED_BYTES, Responder, sendJson } from "./responder.ts";

export interface EndpointOptions extends GuardOptions, SubscriptionLimits {
  /** Bytes in one request's body. Default 4 MiB. */
  maxMessageBytes?: number;
  /** Bytes of a stream that may wait for its reader, which is dropped beyond. Default 4 MiB. */
  maxBufferedBytes?: number;
  /** Where legacy sessions live, or `"stateless"` for none. Default: this process's memory. */
  sessions?: SessionStore | "stateless";
  /** Milliseconds that a legacy client is given to answer a request of ours. Default 10 minutes. */
  answerTimeout?: number;
}

/** Takes the requests for one MCP endpoint. */
export type Endpoint = (request: IncomingMessage, response: ServerResponse) => void;

const DEFAULT_MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const METHODS = "POST, DELETE, OPTIONS";
const LEGACY_WIRE = wireOf(LATEST_LEGACY);

/**
 * Makes the handler of an MCP endpoint, to be mounted at any path of any `node:http` server.
 *
 * @param boundTo the address that the HTTP server listens on
 * @throws Error when that address needs `allowedHosts`
 */
export function createEndpoint(server: McpServer, boundTo: string, options: EndpointOptions = {}): Endpoint {
  const { maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES, maxBufferedBytes = DEFAULT_MAX_BUFFERED_BYTES } =
    options;
  const guard = createGuard(boundTo, options);
  const sessions = options.sessions === "stateless" ? undefined : (options.sessions ?? memorySessions());
  const subscriptions = new Subscriptions(options);
  // What another POST of the same session has to find: requests in flight, and those of ours that wait.
  const live = new Map<string, LiveSession>();

  return (request, response) => {
    const refused = guard(request);
    if (refused !== undefined) return refuse(response, 403, refused);
    const { origin } = request.headers;
    if (origin !== undefined) allowOrigin(response, origin);
    switch (request.method) {
      case "POST":
        return post(request, response);
      case "DELETE":
        return void endSession(request, response).catch((thrown) => fail(response, thrown));
      case "OPTIONS":
        response.writeHead(204, { allow: METHODS }).end();
        return;
      default:
        response.setHeader("allow", METHODS);
        return refuse(response, 405, `Method not allowed: ${request.method}; send each message by POST`);
    }
  };

  function post(request: IncomingMessage, response: ServerResponse): void {
    const { headers } = request;
    if (!isJson(headers["content-type"])) {
      return refuse(response, 415, "Unsupported media type: the Content-Type must be application/json");
    }
    if (!accepts(headers.accept)) {
      return refuse(response, 406, "Not acceptable: Accept must list application/json and text/event-stream");
    }
    readBody(request, maxMessageBytes, (text, failure) => {
      if (failure === undefined) return receive(text, request, response);
      if (!(failure instanceof BodyTooLargeError)) return void response.destroy();
      response.setHeader("connection", "close");
      refuse(response, 413, `The message is larger than maxMessageBytes allows (${maxMessageBytes} bytes)`);
    });
  }

  function receive(text: string, request: IncomingMessage, response: ServerResponse): void {
    const message = parseMessage(text);
    switch (message.kind) {
      case "request":
        if (isModern(message, request)) return modern(message, request, response);
        if (message.method === "initialize") {
          return void openSession(message, response).catch((thrown) => fail(response, thrown, message.id));
        }
        return void legacy(message, request, response).catch((thrown) => fail(response, thrown, message.id));
      case "notification":
        return void notified(message, request, response).catch((thrown) => fail(response, thrown));
      case "invalid":
        return sendJson(response, 400, writeError(message.id, message.error));
      default:
        return void answered(message, request, response).catch((thrown) => fail(response, thrown));
    }
  }

  function modern(message: RequestMessage, request: IncomingMessage, response: ServerResponse): void {
    let caller: Caller;
    try {
      const version = declaredVersion(message.params);
      if (version !== undefined) checkMirrorHeaders(request.headers, message, version);
      caller = readEnvelope(message.params);
    } catch (thrown) {
      return sendJson(response, 400, errorAnswer(ENVELOPE_WIRE, message.id, thrown).text);
    }
    const responder = new Responder(response, maxBufferedBytes);
    const call = modernCall(server, message, caller, (text) => responder.notify(text));
    // The client cancels by going away (streamable-http § Cancellation).
    response.on("close", () => call.cancel());
    const pending = answer(server, caller.wire, message.id, message.method, () =>
      modernReply(server, message, call, subscriptions),
    );
    const finish = (settled: Answer) => {
      call.finish();
      responder.finish(settled, true);
    };
    if (pending instanceof Promise) void pending.then(finish);
    else finish(pending);
  }

  async function openSession(message: RequestMessage, response: ServerResponse): Promise<void> {
    const { record, result } = initialize(server, message.params);
    const id = await sessions?.create(record);
    if (id !== undefined) response.setHeader("mcp-session-id", id);
    const opened = await answer(server, callerOf(record).wire, message.id, message.method, () => result);
    sendJson(response, 200, opened.text);
  }

  async function legacy(
    message: RequestMessage,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const session = await findSession(request, response, message.id);
    if (session === undefined) return;
    const { id: sessionId, record } = session;
    const caller = callerOf(record);
    const responder = new Responder(response, maxBufferedBytes);
    // A client that goes away has not cancelled (2025-11-25, basic/transports § Sending Messages).
    const call = new Call(
      caller,
      (text) => responder.notify(text),
      (own) => pushDialogue(own, liveSession(sessionId).asked),
    );
    const pending = answer(server, caller.wire, message.id, message.method, () =>
      legacyReply(server, message, call, {
        record,
        keep: (change) => sessions?.update(sessionId, { ...record, ...change }),
      }),
    );
    if (pending instanceof Promise && sessionId !== "") track(sessionId, message.id, call, pending);
    const settled = await pending;
    if (call.cancelled) {
      // Nothing is sent for a cancelled request, but its HTTP exchange has to end.
      response.end();
      return;
    }
    call.finish();
    responder.finish(settled, false);
  }

  function liveSession(id: string): LiveSession {
    let session = live.get(id);
    if (session === undefined) {
      session = new LiveSession(options.answerTimeout);
      live.set(id, session);
    }
    return session;
  }

  function track(sessionId: string, id: RequestId, call: Call, pending: Promise<unknown>): void {
    const session = liveSession(sessionId);
    if (session.calls.has(id)) return;
    session.calls.set(id, call);
    void pending.then(() => {
      session.calls.delete(id);
      if (session.idle && live.get(sessionId) === session) live.delete(sessionId);
    });
  }

  async function notified(
    message: NotificationMessage,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (!saysModern(request)) {
      const session = await findSession(request, response);
      if (session === undefined) return;
      const { requestId, reason } = message.params;
      if (message.method === "notifications/cancelled") {
        const call = live.get(session.id)?.calls.get(requestId as RequestId);
        call?.cancel(typeof reason === "string" ? reason : undefined);
      }
    }
    response.writeHead(202).end();
  }

  /** A response to a request of ours. */
  async function answered(
    message: ResultMessage | ErrorMessage,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const session = await findSession(request, response);
    if (session === undefined) return;
    if (live.get(session.id)?.asked.settle(message) !== true) {
      return refuse(response, 400, "No request is waiting for this response");
    }
    response.writeHead(202).end();
  }

  /** The session that a request belongs to; without one the response is sent and nothing is given. */
  async function findSession(
    request: IncomingMessage,
    response: ServerResponse,
    requestId?: RequestId,
  ): Promise<{ id: string; record: SessionRecord } | undefined> {
    const { "mcp-session-id": id, "mcp-protocol-version": version } = request.headers;
    if (version !== undefined && !LEGACY_REVISIONS.some((known) => known === version)) {
      const asked = String(version).slice(0, 64);
      const known = LEGACY_REVISIONS.join(", ");
      refuse(response, 400, `Unsupported MCP-Protocol-Version: ${asked}; supported: ${known}`, requestId);
      return undefined;
    }
    if (sessions === undefined) {
      const revision = isRevision(version) ? version : LATEST_LEGACY;
      return { id: "", record: strangerSession(revision) };
    }
    if (typeof id !== "string") {
      const message = 'No session: send "initialize" first and repeat its Mcp-Session-Id header';
      refuse(response, 400, message, requestId);
      return undefined;
    }
    const record = await sessions.get(id);
    if (record === undefined) {
      refuse(response, 404, "Session not found: it has ended; initialize again", requestId);
      return undefined;
    }
    return { id, record };
  }

  async function endSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = await findSession(request, response);
    if (session === undefined) return;
    if (sessions === undefined) return refuse(response, 405, "This server keeps no sessions");
    await sessions.delete(session.id);
    live.get(session.id)?.end();
    live.delete(session.id);
    response.writeHead(204).end();
  }

  function fail(response: ServerResponse, thrown: unknown, id?: RequestId): void {
    if (!(thrown instanceof ProtocolError)) server.report(thrown, "http");
    if (response.headersSent) return void response.destroy();
    const { code } = LEGACY_WIRE.error(thrown);
    const limited =
      thrown instanceof ProtocolError && code === ErrorCode.InvalidRequest && thrown.data !== undefined;
    const status = limited ? 503 : thrown instanceof ProtocolError ? 400 : 500;
    sendJson(response, status, errorAnswer(LEGACY_WIRE, id, thrown).text);
  }
}

/** A request is modern by what its body declares; one that lacks its `_meta` says by its header what it is. */
function isModern(message: RequestMessage, request: IncomingMessage): boolean {
  if (declaredVersion(message.params) !== undefined) return true;
  return message.method !== "initialize" && saysModern(request);
}

function saysModern({ headers }: IncomingMessage): boolean {
  const version = headers["mcp-protocol-version"];
  return typeof version === "string" && /^\d{4}-\d\d-\d\d$/.test(version) && eraOf(version) === "modern";
}

/** An error of the transport; without an id where no request was read. */
function refuse(response: ServerResponse, status: number, message: string, id?: RequestId): void {
  sendJson(response, status, writeError(id, { code: ErrorCode.InvalidRequest, message }));
}

function isJson(type: string | undefined): boolean {
  return type === "application/json" || /^application\/json\s*(;|$)/i.test(type ?? "");
}

function accepts(accept: string | undefined): boolean {
  if (accept === undefined || accept === "application/json, text/event-stream" || accept === "*/*")
    return true;
  const types = accept.split(",").map((type) => type.split(";", 1)[0]?.trim().toLowerCase());
  const lists = (type: string) =>
    types.includes(type) || types.includes(`${type.split("/", 1)[0]}/*`) || types.includes("*/*");
  return lists("application/json") && lists("text/event-stream");
}

function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-allow-methods", METHODS);
  response.setHeader("access-control-allow-headers", "*, authorization");
  response.setHeader("access-control-expose-headers", "mcp-session-id");
  response.setHeader("vary", "origin");
}
