/** The methods of the legacy era: those of both, and those that change a session. */

import {
  ErrorCode,
  isLoggingLevel,
  LOGGING_LEVELS,
  ProtocolError,
  type RequestMessage,
  ResourceNotFoundError,
  type Result,
} from "@patchbay/core";
import { methodNotFound, type Reply } from "../dispatch.ts";
import type { Call } from "../exchange.ts";
import type { Watch } from "../features/resources.ts";
import type { McpServer } from "../server.ts";
import { demandedTask, hasTasks, legacyTaskReply } from "../tasks/legacy.ts";
import type { SessionRecord } from "./session.ts";
import { withSubscription } from "./subscriptions.ts";

/** A session, and how what changes in it is kept; that may have to wait for its store. */
export interface LegacySession {
  readonly record: SessionRecord;
  /** @throws what `change` throws, which may be called again with what another request has made of it meanwhile */
  keep(change: (record: SessionRecord) => SessionRecord): void | Promise<void>;
}

/** @param maxWatched resources that a session may subscribe to */
export function legacyReply(
  server: McpServer,
  request: RequestMessage,
  call: Call,
  session: LegacySession,
  maxWatched?: number,
): Reply | Promise<Reply> {
  const { method, params } = request;
  return server.through(method, params, call, () => carryOut(server, request, call, session, maxWatched));
}

function carryOut(
  server: McpServer,
  { method, params }: RequestMessage,
  call: Call,
  session: LegacySession,
  maxWatched: number | undefined,
): Reply | Promise<Reply> {
  switch (method) {
    case "ping":
      return {};
    case "logging/setLevel": {
      const { level } = params;
      if (!isLoggingLevel(level)) {
        throw new ProtocolError(
          ErrorCode.InvalidParams,
          `"level" must be one of ${LOGGING_LEVELS.join(", ")}`,
        );
      }
      return kept(session.keep((record) => ({ ...record, logLevel: level })));
    }
    case "resources/subscribe":
    case "resources/unsubscribe": {
      if (server.capabilities.resources?.subscribe !== true) throw methodNotFound(method);
      const subscribe = method === "resources/subscribe";
      const { uri } = params;
      if (subscribe && typeof uri === "string" && server.hides(uri, call))
        throw new ResourceNotFoundError(uri);
      const keep = () =>
        kept(
          session.keep((record) => ({
            ...record,
            watched: withSubscription(record.watched, params, subscribe, maxWatched),
          })),
        );
      if (typeof uri !== "string") return keep();
      if (!subscribe) server.watches.end(call.key, uri);
      const watch = subscribe ? server.watchOf(uri, call) : undefined;
      return watch === undefined ? keep() : watched(server, call.key, uri, watch, keep);
    }
    case "tools/call":
      if (params.task !== undefined && hasTasks(server, session.record)) {
        call.tasks = demandedTask(server, params, call, session.record);
      }
      return server.handle(method, params, call);
    case "tasks/get":
    case "tasks/result":
    case "tasks/list":
    case "tasks/cancel":
      return hasTasks(server, session.record)
        ? legacyTaskReply(server, method, params, call, session.record)
        : server.handle(method, params, call);
    default:
      return server.handle(method, params, call);
  }
}

/** Has a resource watched, as long as that is kept. */
async function watched(
  server: McpServer,
  key: string | undefined,
  uri: string,
  watch: Watch,
  keep: () => Result | Promise<Result>,
): Promise<Result> {
  await server.watches.begin(key, uri, watch);
  try {
    return await keep();
  } catch (error) {
    server.watches.end(key, uri);
    throw error;
  }
}

function kept(keeping: void | Promise<void>): Result | Promise<Result> {
  return keeping instanceof Promise ? keeping.then(() => ({})) : {};
}
