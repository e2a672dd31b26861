/** `/metrics` on a port of its own, so that who may reach the MCP endpoint cannot read it. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { MetricsSource } from "../../metrics.ts";
import { createGuard, isLoopback } from "./guard.ts";
import { NodeExchange } from "./node.ts";

export interface MetricsServingOptions {
  /** 0 takes any free one. Default 9464. */
  port?: number;
  /** The address to listen on. Default 127.0.0.1. */
  host?: string;
  /** Host names that requests may be addressed to. Default: those of loopback where it listens there, else any. */
  allowedHosts?: readonly string[];
}

/** Metrics that can be scraped. */
export interface MetricsServing {
  readonly url: string;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 100;

/**
 * Lets metrics be scraped: `GET /metrics`.
 *
 * @throws Error when the port is taken
 */
export async function serveMetrics(
  source: MetricsSource,
  options: MetricsServingOptions = {},
): Promise<MetricsServing> {
  const { port = 9464, host = "127.0.0.1" } = options;
  const allowedHosts = options.allowedHosts ?? (isLoopback(host) ? undefined : ["*"]);
  const guard = createGuard(host, allowedHosts === undefined ? {} : { allowedHosts });
  let running: Promise<string> | undefined;
  /** Who asks while an answer is being gathered gets that one. */
  const gather = () => {
    running ??= source.text().finally(() => {
      running = undefined;
    });
    return running;
  };
  const http = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 }, (request, response) => {
    const exchange = new NodeExchange(request, response);
    if (guard(exchange) !== undefined) return exchange.respond(403, "text/plain", "Forbidden\n");
    if (request.url !== "/metrics") return exchange.respond(404, "text/plain", "Not found; see /metrics\n");
    if (request.method !== "GET") return exchange.respond(405, "text/plain", "Method not allowed\n");
    gather().then(
      (text) => exchange.respond(200, source.contentType, text),
      () => exchange.respond(503, "text/plain", "The metrics could not be gathered\n"),
    );
  });
  http.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(port, host, resolve);
  });
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${name}:${(http.address() as AddressInfo).port}/metrics`,
    close() {
      const closed = new Promise<void>((resolve) => http.close(() => resolve()));
      http.closeAllConnections();
      return closed;
    },
  };
}
