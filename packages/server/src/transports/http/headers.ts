/** What the headers of a request have to say: its media types, and what mirrors a modern body. */

import {
  decodeHeaderValue,
  ErrorCode,
  isObject,
  type MirroredParam,
  mirroredValue,
  ProtocolError,
  type RequestMessage,
} from "@patchbay/core";
import type { HttpExchange } from "./exchange.ts";

/** What keeps a body from being read as JSON, if anything: it is taken as UTF-8, and not compressed. */
export function unreadable(http: HttpExchange): string | undefined {
  const type = http.header("content-type");
  if (type !== "application/json") {
    const charset = /^application\/json\s*(?:$|;\s*(?:charset\s*=\s*"?([^\s;"]*))?)/i.exec(type ?? "");
    if (charset === null) return "the Content-Type must be application/json";
    if (!/^(utf-?8|us-ascii)?$/i.test(charset[1] ?? "")) return "the charset of JSON is utf-8";
  }
  const coding = http.header("content-encoding");
  if (coding === undefined || coding.toLowerCase() === "identity") return undefined;
  return "send the message without a Content-Encoding";
}

/** Whether a client takes all of these types; one that does not say takes any. */
export function accepts(accept: string | undefined, ...wanted: string[]): boolean {
  if (accept === undefined || accept === "application/json, text/event-stream" || accept === "*/*")
    return true;
  const types = accept.split(",").map((type) => type.split(";", 1)[0]?.trim().toLowerCase());
  return wanted.every(
    (type) => types.includes(type) || types.includes(`${type.split("/", 1)[0]}/*`) || types.includes("*/*"),
  );
}

/** What no header's value may have (RFC 9110 § 5.5, and nothing beyond ASCII). */
const UNSAFE = /[^\t\x20-\x7e]/;
/** An integer as it is written in a header; `42.0` is 42 (streamable-http § Server Validation). */
const INTEGER = /^-?\d+(?:\.0+)?$/;

/** The parameter that `Mcp-Name` mirrors, by method (streamable-http § Standard Request Headers). */
const NAMED_BY = new Map<string, "name" | "uri" | "taskId">([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  // The tasks extension (SEP-2663).
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/**
 * Checks the headers that mirror a modern request's body (streamable-http § Server Validation).
 *
 * @param version as the body declares it
 * @throws ProtocolError (−32020) when a header is missing, malformed or says something else than the body
 */
export function checkMirrorHeaders(http: HttpExchange, request: RequestMessage, version: unknown): void {
  check("MCP-Protocol-Version", http.header("mcp-protocol-version"), version);
  check("Mcp-Method", http.header("mcp-method"), request.method);
  const source = NAMED_BY.get(request.method);
  if (source === undefined) return;
  const expected = request.params[source];
  // A request that lacks what it should name is answered by its method, as malformed.
  if (typeof expected === "string") check("Mcp-Name", decoded(http.header("mcp-name")), expected);
}

/**
 * Checks the headers that mirror a tool's parameters (streamable-http § Server Behavior for Custom Headers).
 *
 * @throws ProtocolError (−32020)
 */
export function checkParamHeaders(
  http: HttpExchange,
  request: RequestMessage,
  mirrored: readonly MirroredParam[],
): void {
  const { arguments: args } = request.params;
  for (const { header, path } of mirrored) {
    const value = isObject(args) ? mirroredValue(args, path) : undefined;
    const given = http.header(header);
    if (value === undefined) {
      if (given !== undefined) throw mismatch(`${header} header is set, but the parameter has no value`);
      continue;
    }
    const text = decoded(given);
    const sameNumber = typeof value === "number" && INTEGER.test(text ?? "") && Number(text) === value;
    if (!sameNumber) check(header, text, String(value));
  }
}

function check(name: string, given: string | undefined, expected: unknown): void {
  if (given === expected) return;
  throw mismatch(
    given === undefined
      ? `${name} header is missing`
      : `${name} header value ${quote(given)} does not match body value ${quote(expected)}`,
  );
}

function decoded(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (UNSAFE.test(value)) throw mismatch(`${quote(value)} has characters that a header may not have`);
  const plain = decodeHeaderValue(value);
  if (plain === undefined) throw mismatch(`${quote(value)} is not valid Base64`);
  return plain;
}

function mismatch(what: string): ProtocolError {
  return new ProtocolError(ErrorCode.HeaderMismatch, `Header mismatch: ${what}`);
}

function quote(value: unknown): string {
  return `'${String(value).slice(0, 128)}'`;
}
