/** Streamable HTTP on Node: a server of its own, or the handler of an endpoint for one that you have. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { McpServer } from "../server.ts";
import { createEndpoint, type EndpointOptions } from "./http/endpoint.ts";

export { type MemorySessionsOptions, memorySessions } from "../sessions/memory.ts";
export type { SessionStore } from "../sessions/store.ts";
export { createEndpoint, type Endpoint, type EndpointOptions } from "./http/endpoint.ts";
export type { GuardOptions } from "./http/guard.ts";

export interface HttpOptions extends EndpointOptions {
  /** 0 takes any free one. Default 3000. */
  port?: number;
  /** The address to listen on. Default 127.0.0.1; any that others can reach needs `allowedHosts`. */
  host?: string;
  /** The endpoint's path. Default `/mcp`. */
  path?: string;
  /** Milliseconds in which a request's headers have to arrive. Default 10 s. */
  headersTimeout?: number;
  /** Milliseconds in which a whole request has to arrive. Default 30 s. */
  requestTimeout?: number;
  /** Connections that may be open at once. Default 10,000. */
  maxConnections?: number;
}

/** A server that is listening. */
export interface HttpServing {
  /** The endpoint's URL. */
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /**
   * Stops listening, lets the requests that are being answered finish, and resolves when all is closed.
   *
   * @param graceMs milliseconds after which what is still open is cut off. Default 2000
   */
  close(graceMs?: number): Promise<void>;
}

/**
 * Serves an McpServer over Streamable HTTP. `GET /healthz` answers 200 while it runs.
 *
 * @throws Error when the port is taken, or the address needs `allowedHosts`
 */
export async function serveHttp(server: McpServer, options: HttpOptions = {}): Promise<HttpServing> {
  const {
    port = 3000,
    host = "127.0.0.1",
    path = "/mcp",
    headersTimeout = 10_000,
    requestTimeout = 30_000,
  } = options;
  if (!path.startsWith("/")) throw new Error(`path must begin with "/", not "${path}"`);
  const endpoint = createEndpoint(server, host, options);
  const http = createServer(
    { headersTimeout, requestTimeout, keepAliveTimeout: 65_000 },
    (request, response) => {
      const { url = "/" } = request;
      if (url === path || url.startsWith(`${path}?`)) return endpoint(request, response);
      if (url === "/healthz")
        return void response.writeHead(200, { "content-type": "text/plain" }).end("ok\n");
      response
        .writeHead(404, { "content-type": "text/plain" })
        .end(`Not found; the MCP endpoint is ${path}\n`);
    },
  );
  http.maxConnections = options.maxConnections ?? 10_000;
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, host, () => {
      http.off("error", reject);
      resolve();
    });
  });
  const address = http.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${name}:${address.port}${path}`,
    port: address.port,
    server: http,
    close: (graceMs = 2000) => closeGracefully(http, graceMs),
  };
}

function closeGracefully(http: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    // A connection that finishes its request now would be kept alive: it is closed as soon as it idles.
    const sweep = setInterval(() => http.closeIdleConnections(), 20);
    const cut = setTimeout(() => http.closeAllConnections(), graceMs);
    http.close(() => {
      clearInterval(sweep);
      clearTimeout(cut);
      resolve();
    });
  });
}
