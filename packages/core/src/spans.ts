/** How a request is called in a trace, by OpenTelemetry's conventions for MCP: the same on both sides. */

import { ProtocolError } from "./errors.ts";
import type { JsonObject } from "./json.ts";
import type { Revision } from "./revisions.ts";

const MAX_TARGET_LENGTH = 256;
const TARGET_ATTRIBUTES: Readonly<Record<string, string>> = {
  "tools/call": "gen_ai.tool.name",
  "prompts/get": "gen_ai.prompt.name",
  "resources/read": "mcp.resource.uri",
};

/** The name and the attributes of a request's span. */
export function spanOf(
  method: string,
  params: JsonObject,
  revision: Revision,
): { name: string; attributes: Record<string, string> } {
  const attributes: Record<string, string> = {
    "mcp.method.name": method,
    "mcp.protocol.version": revision,
  };
  const attribute = TARGET_ATTRIBUTES[method];
  const target = method === "resources/read" ? params.uri : params.name;
  if (attribute === undefined || typeof target !== "string") return { name: method, attributes };
  const shown = target.slice(0, MAX_TARGET_LENGTH);
  attributes[attribute] = shown;
  // There are too many URIs to be names.
  return { name: method === "resources/read" ? method : `${method} ${shown}`, attributes };
}

/** What a span tells of a request that failed. */
export function failureOfSpan(thrown: unknown): Record<string, string> {
  return {
    "error.type": thrown instanceof Error ? thrown.name : "error",
    ...(thrown instanceof ProtocolError && { "rpc.response.status_code": String(thrown.code) }),
  };
}
