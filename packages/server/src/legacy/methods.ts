/** The methods of the legacy era: those of both, `ping`, and `logging/setLevel`. */

import {
  ErrorCode,
  isLoggingLevel,
  LOGGING_LEVELS,
  type LoggingLevel,
  ProtocolError,
  type RequestMessage,
} from "@patchbay/core";
import type { Reply } from "../dispatch.ts";
import type { Exchange } from "../exchange.ts";
import type { McpServer } from "../server.ts";

/** @param setLogLevel keeps the level in the session; may wait for its store */
export function legacyReply(
  server: McpServer,
  request: RequestMessage,
  exchange: Exchange,
  setLogLevel: (level: LoggingLevel) => void | Promise<void>,
): Reply | Promise<Reply> {
  switch (request.method) {
    case "ping":
      return {};
    case "logging/setLevel": {
      const { level } = request.params;
      if (!isLoggingLevel(level)) {
        throw new ProtocolError(
          ErrorCode.InvalidParams,
          `"level" must be one of ${LOGGING_LEVELS.join(", ")}`,
        );
      }
      const kept = setLogLevel(level);
      return kept instanceof Promise ? kept.then(() => ({})) : {};
    }
    default:
      return server.handle(request.method, request.params, exchange);
  }
}
