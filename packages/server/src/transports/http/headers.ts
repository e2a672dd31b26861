/** The headers that mirror a modern request's body, checked against it (streamable-http § Server Validation). */

import type { IncomingHttpHeaders } from "node:http";
import { ErrorCode, type JsonObject, ProtocolError, type RequestMessage } from "@patchbay/core";

/** The parameter that `Mcp-Name` mirrors, by method (streamable-http § Standard Request Headers). */
const NAMED_BY: Record<string, "name" | "uri"> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/**
 * @param version as the body declares it
 * @throws ProtocolError (−32020) when a header is missing, malformed or says something else than the body
 */
export function checkMirrorHeaders(
  headers: IncomingHttpHeaders,
  request: RequestMessage,
  version: unknown,
): void {
  check("MCP-Protocol-Version", headers["mcp-protocol-version"], version);
  check("Mcp-Method", headers["mcp-method"], request.method);
  const source = Object.hasOwn(NAMED_BY, request.method) ? NAMED_BY[request.method] : undefined;
  if (source === undefined) return;
  const expected = (request.params as JsonObject)[source];
  // A request that lacks what it should name is answered by its method, as malformed.
  if (typeof expected === "string")
    check("Mcp-Name", decodeSentinel(headers["mcp-name"] as string | undefined), expected);
}

function check(name: string, given: string | string[] | undefined, expected: unknown): void {
  if (given === expected) return;
  const what =
    given === undefined
      ? `${name} header is missing`
      : `${name} header value ${quote(given)} does not match body value ${quote(expected)}`;
  throw new ProtocolError(ErrorCode.HeaderMismatch, `Header mismatch: ${what}`);
}

const SENTINEL = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** A value that a header cannot carry as it is comes as `=?base64?…?=` (streamable-http § Value Encoding). */
function decodeSentinel(value: string | undefined): string | undefined {
  if (value === undefined || !value.startsWith("=?base64?")) return value;
  const encoded = SENTINEL.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, "base64").toString("utf8");
}

function quote(value: unknown): string {
  return `'${String(value).slice(0, 128)}'`;
}
