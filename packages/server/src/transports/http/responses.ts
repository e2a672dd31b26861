/** Whole responses: answers as JSON, and refusals of the transport. */

import { ErrorCode, LATEST_LEGACY, ProtocolError, type RequestId, wireOf, writeError } from "@patchbay/core";
import type { Answer } from "../../answer.ts";
import type { McpServer } from "../../server.ts";
import type { HttpExchange } from "./exchange.ts";

const JSON_TYPE = "application/json";
const LEGACY_WIRE = wireOf(LATEST_LEGACY);

export function sendJson(http: HttpExchange, status: number, text: string): void {
  http.respond(status, JSON_TYPE, text);
}

/** A modern answer, with the status that its error wants (streamable-http § Protocol Version Header). */
export function sendModern(http: HttpExchange, { text, errorCode }: Answer): void {
  let status = 200;
  if (errorCode === ErrorCode.MethodNotFound) status = 404;
  else if (errorCode === ErrorCode.MissingRequiredClientCapability) status = 400;
  sendJson(http, status, text);
}

/** An error of the transport; without an id where no request was read. */
export function refuse(http: HttpExchange, status: number, message: string, id?: RequestId): void {
  sendJson(http, status, writeError(id, { code: ErrorCode.InvalidRequest, message }));
}

/** What could not even be begun: a limit is 503, a wrong request 400, all else a fault of ours. */
export function fail(server: McpServer, http: HttpExchange, thrown: unknown, id?: RequestId): void {
  const error = LEGACY_WIRE.error(thrown);
  if (!(thrown instanceof ProtocolError)) server.report(thrown, "http");
  const limited = error.code === ErrorCode.InvalidRequest && error.data !== undefined;
  if (limited) http.setHeader("retry-after", "1");
  sendJson(http, limited ? 503 : thrown instanceof ProtocolError ? 400 : 500, writeError(id, error));
}
