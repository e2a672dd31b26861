/** HTTP on Node: a server of its own for all transports, or the handler of an endpoint for one that you have. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createGate } from "../auth/gate.ts";
import { WELL_KNOWN } from "../auth/resource.ts";
import type { Metrics } from "../metrics.ts";
import type { McpServer } from "../server.ts";
import { after } from "../timers.ts";
import { createEndpoint, type EndpointOptions } from "./http/endpoint.ts";
import { createGuard } from "./http/guard.ts";
import { NodeExchange } from "./http/node.ts";
import { createSseEndpoint } from "./http/sse.ts";

export type { AuthInfo } from "../auth/access.ts";
export type { AuthOptions } from "../auth/gate.ts";
export type { TokenVerifier, VerifiedToken, VerifyToken } from "../auth/verifier.ts";
export type { SessionRecord } from "../legacy/session.ts";
export type {
  EventLog,
  InstanceMessage,
  Instances,
  LoggedStream,
  StreamLog,
} from "../sessions/instances.ts";
export { type MemorySessionsOptions, memorySessions } from "../sessions/memory.ts";
export { type SealedSessionsOptions, sealedSessions } from "../sessions/sealed.ts";
export type { SessionStore } from "../sessions/store.ts";
export type { EndpointOptions } from "./http/endpoint.ts";
export type { GuardOptions } from "./http/guard.ts";

export interface HttpOptions extends EndpointOptions {
  /** 0 takes any free one. Default 3000. */
  port?: number;
  /** The address to listen on. Default 127.0.0.1; any that others can reach needs `allowedHosts`. */
  host?: string;
  /** The path of Streamable HTTP. Default `/mcp`. */
  path?: string;
  /** The paths of HTTP+SSE, the transport of 2024-11-05; false for none. Default `/sse` and `/messages`. */
  sse?: { path: string; messagesPath: string } | false;
  /** HTTP+SSE connections that may be open at once. Default 1000. */
  maxSseConnections?: number;
  /** Those of one principal, where requests are authorized. Default 100. */
  maxSseConnectionsPerPrincipal?: number;
  /** Begins the ids of HTTP+SSE connections (`a.…`), as that of a session store begins those of its sessions. */
  instance?: string;
  /** Milliseconds in which a request's headers have to arrive. Default 10 s. */
  headersTimeout?: number;
  /** Milliseconds in which a whole request has to arrive. Default 30 s. */
  requestTimeout?: number;
  /** Milliseconds in which a reader has to take something of a response that is all there. Default 30 s. */
  drainTimeout?: number;
  /** Connections that may be open at once. Default 10,000. */
  maxConnections?: number;
  /** Counts what goes on, from `createMetrics` of `@patchbay/server/metrics`. Default: nothing is counted. */
  metrics?: Metrics;
}

/** A server that is listening. */
export interface HttpServing {
  /** The URL of Streamable HTTP. */
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /**
   * From now on `/readyz` answers 503, and each connection is closed after its response; all is served still. For
   * balancers to see, before `close`.
   */
  drain(): void;
  /**
   * Stops listening, ends subscriptions and streams, lets the requests that are being answered finish, and
   * resolves when all is closed.
   *
   * @param graceMs milliseconds after which what is still open is cut off. Default 2000
   */
  close(graceMs?: number): Promise<void>;
}

/** The handler of one endpoint. */
export interface HttpHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  /** Takes no more requests, and ends what is open gracefully. */
  close(): void;
}

/**
 * Makes the handler of a Streamable HTTP endpoint, to be mounted at any path of any `node:http` server. With `auth` it is
 * to be given the paths that begin with `/.well-known/oauth-protected-resource` too.
 *
 * @param boundTo the address that the HTTP server listens on
 * @throws Error when that address needs `allowedHosts`
 */
export function httpHandler(server: McpServer, boundTo: string, options: EndpointOptions = {}): HttpHandler {
  const endpoint = createEndpoint(server, boundTo, options);
  const handle = (request: IncomingMessage, response: ServerResponse) =>
    endpoint.handle(new NodeExchange(request, response));
  return Object.assign(handle, { close: () => endpoint.end() });
}

const MIB = 1024 * 1024;
const READY_WITHIN = 1000;

/**
 * Serves an McpServer over HTTP: Streamable HTTP in both its shapes, and HTTP+SSE. `GET /healthz` answers 200
 * while it runs, `GET /readyz` while it should be sent requests.
 *
 * @throws Error when the port is taken, the address needs `allowedHosts`, or a path cannot be one
 */
export async function serveHttp(server: McpServer, options: HttpOptions = {}): Promise<HttpServing> {
  const {
    port = 3000,
    host = "127.0.0.1",
    path = "/mcp",
    headersTimeout = 10_000,
    requestTimeout = 30_000,
  } = options;
  const { sse = { path: "/sse", messagesPath: "/messages" } } = options;
  checkPaths([path, ...(sse ? [sse.path, sse.messagesPath] : [])]);
  const gate = options.auth && createGate(server, options.auth);
  const endpoint = createEndpoint(server, host, options, gate);
  const sseEndpoint =
    sse &&
    createSseEndpoint(server, createGuard(host, options), {
      ...options,
      maxMessageBytes: options.maxMessageBytes ?? 4 * MIB,
      maxBufferedBytes: options.maxBufferedBytes ?? 4 * MIB,
      keepAlive: options.keepAlive ?? 15_000,
      maxSseConnections: options.maxSseConnections ?? 1000,
      maxSseConnectionsPerPrincipal: options.maxSseConnectionsPerPrincipal ?? 100,
      path: sse.path,
      messagesPath: sse.messagesPath,
      instance: options.instance,
      gate,
    });

  const guard = createGuard(host, options);
  const { metrics } = options;
  let draining = false;
  const http = createServer(
    {
      headersTimeout,
      requestTimeout,
      keepAliveTimeout: 65_000,
      // Of two tokens, or hosts, none counts: whoever stands before us may have looked at the other.
      joinDuplicateHeaders: true,
      // How often Node looks for who is late: a limit is worth no more than that.
      connectionsCheckingInterval: Math.min(headersTimeout, requestTimeout, 5000),
    },
    (request, response) => {
      const { url = "/" } = request;
      if (draining) response.setHeader("connection", "close");
      metrics?.follow(response);
      const exchange = new NodeExchange(request, response, options.drainTimeout);
      if (isAt(url, path) || (gate !== undefined && url.startsWith(WELL_KNOWN)))
        return endpoint.handle(exchange);
      if (sse && sseEndpoint) {
        if (isAt(url, sse.path)) return sseEndpoint.open(exchange);
        if (isAt(url, sse.messagesPath)) return sseEndpoint.post(exchange);
      }
      // A probe addresses whatever it likes, and learns nothing else than how it is.
      if (isAt(url, "/healthz")) return probe(exchange, () => exchange.respond(200, "text/plain", "ok\n"));
      if (isAt(url, "/readyz")) return probe(exchange, () => void tellReadiness(exchange));
      // Not even the name of what runs here is for who was not meant to reach it.
      if (guard(exchange) !== undefined) return exchange.respond(403, "text/plain", "Forbidden\n");
      exchange.respond(404, "text/plain", `Not found; the MCP endpoint is ${path}\n`);
    },
  );
  http.maxConnections = options.maxConnections ?? 10_000;
  const unobserve = metrics === undefined ? [] : observe(metrics);
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, host, () => {
      http.off("error", reject);
      resolve();
    });
  });
  const address = http.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${name}:${address.port}${path}`,
    port: address.port,
    server: http,
    drain,
    close(graceMs = 2000) {
      closed ??= close(graceMs);
      return closed;
    },
  };

  async function tellReadiness(exchange: NodeExchange): Promise<void> {
    const why = draining ? "draining" : (await canReach(options.sessions)) ? undefined : "no sessions";
    exchange.respond(why === undefined ? 200 : 503, "text/plain", `${why ?? "ready"}\n`);
  }

  function drain(): void {
    draining = true;
  }

  async function close(graceMs: number): Promise<void> {
    drain();
    endpoint.end();
    if (sseEndpoint) sseEndpoint.end();
    await closeGracefully(http, graceMs);
    endpoint.stop();
    for (const end of unobserve) end();
  }

  function observe(metrics: Metrics): (() => void)[] {
    return [
      server.observe(metrics.observer),
      metrics.gauge(
        "patchbay_live_sessions",
        "Legacy HTTP sessions in which something goes on: a request, a question, a stream",
        () => endpoint.live,
      ),
      ...(endpoint.countSessions === undefined
        ? []
        : [
            metrics.gauge(
              "patchbay_stored_sessions",
              "Legacy HTTP sessions that live",
              endpoint.countSessions,
            ),
          ]),
      metrics.gauge(
        "patchbay_subscriptions",
        "Modern subscriptions that are open",
        () => endpoint.subscriptions,
      ),
      metrics.gauge(
        "patchbay_kept_characters",
        "Characters of events that legacy streams keep for clients that come back",
        () => endpoint.kept,
      ),
    ];
  }
}

const HEALTH = ["/healthz", "/readyz"];

/** Each has to be one that a request can name, and that no other answers. */
function checkPaths(paths: string[]): void {
  const taken = new Set(HEALTH);
  for (const path of paths) {
    if (!/^\/[!$&-;=@-Z_a-z~%]*$/.test(path))
      throw new Error(`The path "${path}" cannot be one: it begins with "/", and has no "?", "#" or space`);
    if (taken.has(path)) throw new Error(`The path "${path}" is taken: ${[...taken].join(", ")} are others`);
    taken.add(path);
  }
}

function probe(exchange: NodeExchange, tell: () => void): void {
  if (exchange.method === "GET" || exchange.method === "HEAD") return tell();
  exchange.setHeader("allow", "GET, HEAD");
  exchange.respond(405, "text/plain", "Method not allowed\n");
}

/** Whether what keeps the sessions says, within a second, that it can be reached. */
async function canReach(sessions: EndpointOptions["sessions"]): Promise<boolean> {
  if (sessions === undefined || sessions === "stateless" || sessions.ready === undefined) return true;
  let callOff: () => void = () => {};
  const late = new Promise<boolean>((resolve) => {
    callOff = after(READY_WITHIN, () => resolve(false));
  });
  try {
    return await Promise.race([sessions.ready(), late]);
  } catch {
    return false;
  } finally {
    callOff();
  }
}

function isAt(url: string, path: string): boolean {
  return url === path || (url.startsWith(path) && url[path.length] === "?");
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
