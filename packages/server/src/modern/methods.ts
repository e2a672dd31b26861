/** The methods of the modern era: those of both, and `server/discover`. */

import { type DiscoverResult, MODERN_REVISIONS, type RequestMessage } from "@patchbay/core";
import type { Reply } from "../dispatch.ts";
import type { Exchange } from "../exchange.ts";
import type { McpServer } from "../server.ts";

export function modernReply(
  server: McpServer,
  request: RequestMessage,
  exchange: Exchange,
): Reply | Promise<Reply> {
  if (request.method === "server/discover") return discover(server);
  return server.handle(request.method, request.params, exchange);
}

/** Answers `server/discover` (server/discover). */
function discover(server: McpServer): DiscoverResult {
  return {
    supportedVersions: [...MODERN_REVISIONS],
    capabilities: server.capabilities,
    ...(server.instructions !== undefined && { instructions: server.instructions }),
    ...server.cache,
  };
}
