/** The envelope of a modern request: its version and its client, in `_meta` (basic/index § _meta). */

import {
  type ClientCapabilities,
  ErrorCode,
  eraOf,
  type Implementation,
  isLoggingLevel,
  isObject,
  isRevision,
  type JsonObject,
  LATEST_MODERN,
  META,
  MODERN_REVISIONS,
  ProtocolError,
  wireOf,
} from "@patchbay/core";
import type { Access } from "../auth/access.ts";
import type { Caller } from "../exchange.ts";

/** The version that a request says it is spoken in; a legacy request says none. */
export function declaredVersion(params: JsonObject): unknown {
  const meta = params._meta;
  return isObject(meta) ? meta[META.protocolVersion] : undefined;
}

/** What errors about an envelope are written in: the version asked for may not be one we speak. */
export const ENVELOPE_WIRE = wireOf(LATEST_MODERN);

/**
 * Reads who asks.
 *
 * @param access what the request may do, where the transport says so
 * @param key names them, where the transport can tell them apart
 * @throws ProtocolError −32602 when a required field is missing or wrong, −32022 for a version we do not speak
 */
export function readEnvelope(params: JsonObject, access?: Access, key?: string): Caller {
  const meta = params._meta;
  if (!isObject(meta)) throw malformed("_meta", "an object");
  const version = meta[META.protocolVersion];
  if (typeof version !== "string") throw malformed(META.protocolVersion, "a string");
  if (!isRevision(version) || eraOf(version) !== "modern") {
    throw new ProtocolError(
      ErrorCode.UnsupportedProtocolVersion,
      `Unsupported protocol version: ${version.slice(0, 64)}`,
      {
        supported: [...MODERN_REVISIONS],
        requested: version.slice(0, 64),
      },
    );
  }
  const capabilities = meta[META.clientCapabilities];
  if (!isObject(capabilities)) throw malformed(META.clientCapabilities, "an object");
  const info = meta[META.clientInfo];
  if (info !== undefined && !isObject(info)) throw malformed(META.clientInfo, "an object");
  const logLevel = meta[META.logLevel];
  if (logLevel !== undefined && !isLoggingLevel(logLevel)) throw malformed(META.logLevel, "a log level");
  return {
    key,
    access,
    wire: wireOf(version),
    client: { info: info as Implementation | undefined, capabilities: capabilities as ClientCapabilities },
    logLevel,
  };
}

function malformed(field: string, expected: string): ProtocolError {
  const path = field === "_meta" ? "params._meta" : `params._meta["${field}"]`;
  return new ProtocolError(ErrorCode.InvalidParams, `Invalid params: ${path} must be ${expected}`);
}
