/** Who may call at all: the Host and Origin of a request, against DNS rebinding and foreign pages. */

import type { HttpExchange } from "./exchange.ts";

export interface GuardOptions {
  /**
   * Host names that requests may be addressed to, without a port; `"*"` for any.
   * Default: the names of loopback where the server is bound to it.
   */
  allowedHosts?: readonly string[];
  /**
   * Origins whose pages may call, such as `https://app.example`; `"*"` for any.
   * Default: pages of loopback, on any port, where the server is bound to it.
   */
  allowedOrigins?: readonly string[];
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** Tells what is wrong with where a request comes from or goes to, if anything. */
export type Guard = (http: HttpExchange) => string | undefined;

/**
 * @param boundTo the address the server listens on; nothing where that is not known
 * @throws Error when that address is reachable from elsewhere and no hosts are named, or one is no name
 */
export function createGuard(boundTo: string | undefined, options: GuardOptions): Guard {
  const onLoopback = boundTo !== undefined && isLoopback(boundTo);
  if (!onLoopback && options.allowedHosts === undefined) {
    throw new Error(
      `${boundTo ?? "This server"} can be reached from other machines: name the hosts that clients will use in allowedHosts ` +
        '(such as ["mcp.example.com"], or ["*"] for any)' +
        (boundTo === undefined ? "" : ", or listen on 127.0.0.1"),
    );
  }
  const hosts = new Set((options.allowedHosts ?? LOOPBACK).map(asHost));
  for (const origin of options.allowedOrigins ?? []) checkOrigin(origin);
  const origins = new Set(options.allowedOrigins);
  const loopbackOrigins = options.allowedOrigins === undefined && onLoopback;
  // Real clients repeat themselves: what was allowed once is allowed by one look-up.
  const seen = new Set<string>();

  return (http) => {
    const host = http.header("host");
    const origin = http.header("origin");
    if (host === undefined) return "The Host header is missing";
    // No header holds a newline, so no other pair makes the same key.
    const key = origin === undefined ? host : `${host}\n${origin}`;
    if (seen.has(key)) return undefined;
    if (!/^[\w.\-[\]:]{1,255}$/.test(host)) return "The Host header is no name of a host";
    if (!hosts.has("*") && !hosts.has(nameOf(host))) {
      return `Host not allowed: ${host.slice(0, 128)}; see allowedHosts`;
    }
    if (origin !== undefined && !originAllowed(origin)) {
      return `Origin not allowed: ${origin.slice(0, 128)}; see allowedOrigins`;
    }
    if (seen.size < 256) seen.add(key);
    return undefined;
  };

  function originAllowed(origin: string): boolean {
    if (origins.has("*") || origins.has(origin)) return true;
    if (!loopbackOrigins || !URL.canParse(origin)) return false;
    const { protocol, hostname } = new URL(origin);
    return (protocol === "http:" || protocol === "https:") && LOOPBACK.includes(hostname);
  }
}

/** What is no name would never be matched, and everybody be refused. */
function asHost(given: string): string {
  if (given === "*" || /^([\w.-]{1,253}|\[[\da-f:.]+\])$/i.test(given)) return given.toLowerCase();
  throw new Error(
    `allowedHosts: "${given.slice(0, 128)}" is no host name; write it without a scheme, port or path, such as ` +
      '"mcp.example.com", or "[::1]"',
  );
}

function checkOrigin(given: string): void {
  if (given === "*" || given === "null" || (URL.canParse(given) && originOf(given) === given)) return;
  throw new Error(
    `allowedOrigins: "${given.slice(0, 128)}" is no origin; write it without a path, such as "https://app.example"`,
  );
}

/** As a browser writes it; of schemes that the URL standard does not know too. */
function originOf(given: string): string {
  const { protocol, host } = new URL(given);
  return `${protocol}//${host}`;
}

export function isLoopback(address: string): boolean {
  return LOOPBACK.includes(address) || address === "::1" || address.startsWith("127.");
}

function nameOf(host: string): string {
  return host.replace(/:\d+$/, "").toLowerCase();
}

const METHODS = "GET, POST, DELETE, OPTIONS";

/** Lets the page of an allowed origin read the response, and see its session. */
export function allowOrigin(http: HttpExchange): void {
  const origin = http.header("origin");
  if (origin === undefined) return;
  http.setHeader("access-control-allow-origin", origin);
  http.setHeader("access-control-allow-methods", METHODS);
  http.setHeader("access-control-allow-headers", "*, authorization");
  http.setHeader(
    "access-control-expose-headers",
    "mcp-session-id, www-authenticate, retry-after, dpop-nonce",
  );
  http.setHeader("vary", "origin");
}
