/** A legacy session: what `initialize` agreed on, and what may change after it (basic/lifecycle). */

import {
  type ClientCapabilities,
  ErrorCode,
  eraOf,
  type Implementation,
  type InitializeResult,
  isObject,
  isRevision,
  type JsonObject,
  LATEST_LEGACY,
  type LoggingLevel,
  ProtocolError,
  type Revision,
  type ServerCapabilities,
  TASKS_EXTENSION,
  wireOf,
} from "@patchbay/core";
import type { Access } from "../auth/access.ts";
import type { Caller, ClientDescription } from "../exchange.ts";
import type { McpServer } from "../server.ts";

/** Small, and nothing but data: a store may keep it anywhere. */
export interface SessionRecord {
  /** Names it among all, unguessably: its tasks belong to it. Missing where each request stands alone. */
  key?: string;
  /** Whose it is: nobody else finds it. Missing where no tokens are asked for. */
  principal?: string;
  revision: Revision;
  client: ClientDescription;
  logLevel: LoggingLevel;
  /** URIs of the resources that it subscribed to. */
  watched: readonly string[];
  /** How often it has changed, where several instances do that: of two, the later. */
  changes?: number;
  /** The instance that has the stream of what the client is told unasked, where there are several. */
  listener?: string;
}

/** Until a client says what it wants to hear (server/utilities/logging § Setting Log Level). */
const DEFAULT_LOG_LEVEL: LoggingLevel = "info";

/** The session of a client that has not introduced itself, or that has none. */
export function strangerSession(revision: Revision): SessionRecord {
  const client = { info: undefined, capabilities: {} };
  return { revision, client, logLevel: DEFAULT_LOG_LEVEL, watched: [] };
}

/** @param access what the request may do, where the transport says so */
export function callerOf({ key, revision, client, logLevel }: SessionRecord, access?: Access): Caller {
  return { key, access, wire: wireOf(revision), client, logLevel };
}

/**
 * Answers `initialize`: the version asked for if it is one of ours, else our latest of its era.
 *
 * @param principal whose the session is to be
 * @param keepsSession false where each request stands alone
 * @throws ProtocolError (−32602) when a required field is missing
 */
export function initialize(
  server: McpServer,
  params: JsonObject,
  principal?: string,
  keepsSession = true,
): { record: SessionRecord; result: InitializeResult } {
  const { protocolVersion, capabilities, clientInfo } = params;
  if (typeof protocolVersion !== "string") throw invalid("protocolVersion", "a string");
  if (!isObject(capabilities)) throw invalid("capabilities", "an object");
  if (!isObject(clientInfo)) throw invalid("clientInfo", "an object");
  const agreed =
    isRevision(protocolVersion) && eraOf(protocolVersion) === "legacy" ? protocolVersion : LATEST_LEGACY;
  const wire = wireOf(agreed);
  return {
    record: {
      key: crypto.randomUUID(),
      ...(principal !== undefined && { principal }),
      revision: agreed,
      client: {
        info: clientInfo as unknown as Implementation,
        capabilities: capabilities as ClientCapabilities,
      },
      logLevel: DEFAULT_LOG_LEVEL,
      watched: [],
    },
    result: {
      protocolVersion: agreed,
      capabilities: wire.capabilities(
        keepsSession ? server.capabilities : withoutChanges(server.capabilities),
      ),
      serverInfo: wire.implementation(server.info),
      ...(server.instructions !== undefined && { instructions: server.instructions }),
    },
  };
}

/** Who keeps no session cannot tell of changes, nor whose a task is. */
function withoutChanges({
  tools,
  resources,
  prompts,
  extensions,
  ...others
}: ServerCapabilities): ServerCapabilities {
  return {
    ...others,
    ...(tools && { tools: {} }),
    ...(resources && { resources: {} }),
    ...(prompts && { prompts: {} }),
    ...(extensions && { extensions: withoutTasks(extensions) }),
  };
}

function withoutTasks({ [TASKS_EXTENSION]: _, ...others }: JsonObject): JsonObject {
  return others;
}

function invalid(field: string, expected: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `Invalid params: "${field}" must be ${expected}`);
}
