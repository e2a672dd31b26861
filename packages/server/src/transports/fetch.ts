/** Streamable HTTP as a `fetch` handler, for Workers, Deno, Bun, or Node's own web objects. */

import type { McpServer } from "../server.ts";
import { createEndpoint, type EndpointOptions } from "./http/endpoint.ts";
import { WebExchange } from "./http/web.ts";

export interface FetchServing {
  /** Answers one request. The URL's path is the caller's business. */
  fetch(request: Request): Promise<Response>;
  /** Takes no more requests, and ends what is open gracefully. */
  close(): void;
}

/**
 * Serves an McpServer where requests come as web objects. With `auth` it is to be given those to paths that begin with
 * `/.well-known/oauth-protected-resource` too.
 *
 * @param options `allowedHosts` is required: what the server is bound to cannot be known here
 * @example
 * ```ts
 * export const { fetch } = serveFetch(server, { allowedHosts: ["mcp.example.com"] });
 * ```
 */
export function serveFetch(
  server: McpServer,
  options: EndpointOptions & { allowedHosts: readonly string[] },
): FetchServing {
  const endpoint = createEndpoint(server, undefined, options);
  return {
    fetch(request) {
      const http = new WebExchange(request);
      endpoint.handle(http);
      return http.response;
    },
    close: () => endpoint.end(),
  };
}
