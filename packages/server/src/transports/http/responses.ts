/** Whole responses: answers as JSON, and refusals of the transport. */

import {
  ErrorCode,
  type ErrorObject,
  type InvalidMessage,
  isObject,
  LATEST_LEGACY,
  limitError,
  type Message,
  ProtocolError,
  type RequestId,
  toErrorObject,
  UnavailableError,
  wireOf,
  writeError,
} from "@patchbay/core";
import type { Answer, Refusal } from "../../answer.ts";
import { InsufficientScopeError, permits } from "../../auth/access.ts";
import type { McpServer } from "../../server.ts";
import { SessionEndedError } from "../../sessions/store.ts";
import { type HttpExchange, JSON_TYPE } from "./exchange.ts";

/** The verbs of the MCP endpoint. */
export const METHODS = "GET, POST, DELETE, OPTIONS";
/** What passes by itself, so that trying again later helps. */
const CAPACITIES: unknown[] = [
  ...["maxSessions", "maxSessionsPerPrincipal", "maxInFlight", "maxRequests"],
  ...["maxRequestsPerPrincipal", "maxStreamsPerPrincipal"],
];
const LEGACY_WIRE = wireOf(LATEST_LEGACY);

export function sendJson(http: HttpExchange, status: number, text: string): void {
  http.respond(status, JSON_TYPE, text);
}

/** A modern answer, with the status that its error wants (streamable-http § Protocol Version Header). */
export function sendModern(http: HttpExchange, { text, pieces, errorCode, refusal }: Answer): void {
  let status = 200;
  if (refusal !== undefined) return sendRefusal(http, text, refusal);
  if (errorCode === ErrorCode.MethodNotFound) status = 404;
  else if (errorCode === ErrorCode.MissingRequiredClientCapability) status = 400;
  http.respond(status, JSON_TYPE, text, pieces);
}

/**
 * What may be asked again: when, or with which scopes, is in a header.
 *
 * @param at the path of the endpoint that was asked
 */
export function sendRefusal(http: HttpExchange, text: string, refusal: Refusal, at = http.path): void {
  if (refusal.status !== 403) {
    http.setHeader("retry-after", String(Math.ceil(refusal.afterMs / 1000)));
  } else {
    const challenge = http.access.challenge?.(refusal.scopes, at);
    if (challenge !== undefined) http.setHeader("www-authenticate", challenge);
  }
  sendJson(http, refusal.status, text);
}

/** An error of the transport; without an id where no request was read. */
export function refuse(http: HttpExchange, status: number, message: string, id?: RequestId): void {
  sendJson(http, status, writeError(id, { code: ErrorCode.InvalidRequest, message }));
}

/** A body that passed its limit. */
export function refuseTooLarge(http: HttpExchange, maxMessageBytes: number): void {
  const message = `The message is larger than maxMessageBytes allows (${maxMessageBytes} bytes)`;
  const { code, data } = limitError("maxMessageBytes", message, maxMessageBytes);
  sendJson(http, 413, writeError(undefined, { code, message, ...(data !== undefined && { data }) }));
}

/**
 * Refuses what lacks scopes before any of it is begun, with all scopes that it needs: whoever gets them sends it again.
 *
 * @param at the path of the endpoint that was asked
 * @returns whether it did
 */
export function refuseScopes(
  server: McpServer,
  http: HttpExchange,
  sent: Message | InvalidMessage | readonly (Message | InvalidMessage)[],
  at?: string,
): boolean {
  const { access } = http;
  if (access.principal === undefined) return false;
  const messages = (Array.isArray(sent) ? sent : [sent]) as readonly (Message | InvalidMessage)[];
  const lacking = messages.flatMap((message) => {
    if (message.kind !== "request") return [];
    const needed = server.neededScopes(message.method, message.params);
    return needed === undefined || permits(needed.scopes, access) ? [] : [{ ...needed, id: message.id }];
  });
  const [first] = lacking;
  if (first === undefined) return false;
  const scopes = [...new Set(lacking.flatMap((each) => each.scopes))];
  const error = new InsufficientScopeError(first.what, scopes);
  const id = Array.isArray(sent) ? undefined : first.id;
  sendRefusal(http, writeError(id, toErrorObject(error)), { status: 403, scopes }, at);
  return true;
}

/** A verb that the endpoint does not take. */
export function refuseMethod(http: HttpExchange, why: string, allowed = METHODS): void {
  http.setHeader("allow", allowed);
  refuse(http, 405, `Method not allowed: ${http.method}; ${why}`);
}

/** There is no room now, but there will be. */
export function refuseForNow(http: HttpExchange, error: ErrorObject, id?: RequestId): void {
  sendRefusal(http, writeError(id, error), { status: 503, afterMs: 1000 });
}

/** What could not even be begun: no room or no store is 503, no session 404, a wrong request 400, all else a fault of ours. */
export function fail(server: McpServer, http: HttpExchange, thrown: unknown, id?: RequestId): void {
  const error = LEGACY_WIRE.error(thrown);
  if (!(thrown instanceof ProtocolError)) {
    server.report(thrown, "http");
    return sendJson(http, 500, writeError(id, error));
  }
  const { data } = error;
  const passes = isObject(data) && CAPACITIES.includes(data.limit);
  if (passes || thrown instanceof UnavailableError) return refuseForNow(http, error, id);
  sendJson(http, thrown instanceof SessionEndedError ? 404 : 400, writeError(id, error));
}
