/**
 * Who authorizes for a server: its Protected Resource Metadata (RFC 9728), then that authorization server's own
 * (RFC 8414, OpenID Connect Discovery); see basic/authorization of each revision.
 */

import { LATEST_MODERN } from "@patchbay/core";
import { type AuthorizationServer, processDiscoveryResponse } from "oauth4webapi";
import { AuthorizationError, readable } from "../errors.ts";
import type { Challenge } from "./challenge.ts";
import { type Reach, shown } from "./reach.ts";
import { clean } from "./scopes.ts";

/** What was found out about a server. */
export interface Discovery {
  /** The resource that tokens are for, as `resource` says it (RFC 8707). */
  readonly resource: string;
  readonly authorizationServer: AuthorizationServer;
  /** What the server says its scopes are. */
  readonly scopes: readonly string[] | undefined;
  /** The server wants tokens that are bound to a key (RFC 9449). */
  readonly dpop: boolean;
  /** Found as 2025-03-26 has it, which does not ask for metadata to say what it does. */
  readonly legacy: boolean;
  /** The endpoints are those of 2025-03-26, of which nothing is known. */
  readonly assumed: boolean;
}

/** What is known beforehand. */
export interface Known {
  /** The issuer that our client id, or all of us, belongs to: no other will do. */
  readonly issuer?: string | undefined;
  /** An issuer that gave tokens before: the first choice where there are several. */
  readonly before?: string | undefined;
}

interface ResourceMetadata {
  resource: string;
  issuers: string[];
  scopes: string[] | undefined;
  dpop: boolean;
}

/** A server may name more, but then it does not know itself which. */
const MAX_ISSUERS = 5;
const PROTOCOL_HEADER = { "mcp-protocol-version": LATEST_MODERN };

/**
 * @param server the URL that the client connects to
 * @throws AuthorizationError when nobody is found, or what is found contradicts itself
 */
export async function discover(
  server: URL,
  challenge: Challenge | undefined,
  reach: Reach,
  known: Known = {},
  signal?: AbortSignal,
): Promise<Discovery> {
  const metadata = await resourceMetadata(server, challenge?.resourceMetadata, reach, signal);
  const dpop = metadata?.dpop === true || challenge?.dpop === true;
  const resource = metadata?.resource ?? canonical(server);
  const found = (authorizationServer: AuthorizationServer): Discovery => ({
    resource,
    authorizationServer,
    scopes: metadata?.scopes,
    dpop,
    legacy: false,
    assumed: false,
  });
  if (metadata !== undefined) return found(await firstOf(metadata.issuers, server, reach, known, signal));
  if (known.issuer !== undefined) return found(await serverMetadata([known.issuer], reach, signal));
  // 2025-03-26: the server's origin is the authorization server. Its issuer may be written in two ways.
  const { origin } = server;
  const own = await serverMetadata([origin, `${origin}/`], reach, signal).catch((error: unknown) => {
    if (error instanceof NotFound) return undefined;
    throw error;
  });
  if (own !== undefined) return { ...found(own), legacy: true };
  return { ...found(defaultEndpoints(origin)), legacy: true, assumed: true };
}

/** The server's URL as an identifier, without its query (basic/authorization § Canonical Server URI). */
export function canonical({ origin, pathname }: URL): string {
  return origin + (pathname === "/" ? "" : pathname);
}

class NotFound extends AuthorizationError {}

async function firstOf(
  issuers: readonly string[],
  server: URL,
  reach: Reach,
  { issuer, before }: Known,
  signal: AbortSignal | undefined,
): Promise<AuthorizationServer> {
  if (issuer !== undefined && !issuers.includes(issuer)) {
    throw new AuthorizationError(
      "discovery",
      `${shown(server.href)} is authorized by ${readable(issuers.join(", "))}, and the client id is one of ` +
        `${readable(issuer)}: it is sent nowhere else`,
    );
  }
  const choices =
    issuer !== undefined ? [issuer] : [...issuers].sort((a, b) => +(b === before) - +(a === before));
  let first: unknown;
  for (const choice of choices) {
    try {
      return await serverMetadata([choice], reach, signal);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      first ??= error;
    }
  }
  throw first;
}

async function resourceMetadata(
  server: URL,
  named: string | undefined,
  reach: Reach,
  signal: AbortSignal | undefined,
): Promise<ResourceMetadata | undefined> {
  const { origin, pathname } = server;
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`;
  const places =
    named !== undefined ? [named] : [...new Set([wellKnown + pathname.replace(/\/$/, ""), wellKnown])];
  for (const place of places) {
    const document = await reach.document(place, { headers: PROTOCOL_HEADER, signal });
    if (document !== undefined) return readResourceMetadata(document, place, server);
  }
  if (named === undefined) return undefined;
  const what = `${shown(server.href)} says that its metadata is at ${shown(named)}, and there is none`;
  throw new AuthorizationError("discovery", what);
}

function readResourceMetadata(
  document: Record<string, unknown>,
  place: string,
  server: URL,
): ResourceMetadata {
  const { resource, authorization_servers: issuers, scopes_supported: scopes } = document;
  const wrong = (what: string) => new AuthorizationError("discovery", `${shown(place)} ${what}`);
  if (typeof resource !== "string" || !covers(resource, server)) {
    const is = readable(JSON.stringify(resource) ?? "nothing", 200);
    throw wrong(`is the metadata of another resource: ${is}, not ${shown(server.href)}`);
  }
  if (
    !Array.isArray(issuers) ||
    issuers.length === 0 ||
    !issuers.every((issuer) => typeof issuer === "string")
  )
    throw wrong("names no authorization server (authorization_servers)");
  return {
    resource,
    issuers: issuers.slice(0, MAX_ISSUERS),
    scopes: Array.isArray(scopes) ? clean(scopes) : undefined,
    dpop: document.dpop_bound_access_tokens_required === true,
  };
}

/** A resource is the server's own URL, or a path above it: tokens for it are given to nobody else's origin. */
function covers(resource: string, server: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname, search, hash, username } = new URL(resource);
  if (origin !== server.origin || hash !== "" || username !== "") return false;
  if (search !== "" && search !== server.search) return false;
  const path = pathname.replace(/\/$/, "");
  return server.pathname === pathname || `${server.pathname}/`.startsWith(`${path}/`);
}

/**
 * The metadata of an authorization server, looked for at each place in order.
 *
 * @param issuers ways to write the one issuer; its metadata has to say one of them exactly
 */
async function serverMetadata(
  issuers: readonly [string, ...string[]],
  reach: Reach,
  signal: AbortSignal | undefined,
): Promise<AuthorizationServer> {
  const [issuer] = issuers;
  const url = reach.check(issuer);
  if (url.search !== "" || url.hash !== "")
    throw new AuthorizationError(
      "discovery",
      `An issuer has no query and no fragment: ${readable(issuer, 200)}`,
    );
  let other: string | undefined;
  for (const place of placesFor(url)) {
    const document = await reach.document(place, { headers: PROTOCOL_HEADER, signal });
    if (document === undefined) continue;
    if (typeof document.issuer !== "string" || !issuers.includes(document.issuer)) {
      other ??= `${shown(place)} is the metadata of ${readable(JSON.stringify(document.issuer) ?? "nobody", 200)}`;
      continue;
    }
    return processDiscoveryResponse(new URL(document.issuer), Response.json(wellFormed(document)));
  }
  if (other !== undefined) {
    const what = `${other}, not of ${readable(JSON.stringify(issuer), 200)}: they have to be the same, to the letter`;
    throw new AuthorizationError("discovery", what);
  }
  throw new NotFound(
    "discovery",
    `There is no metadata of the authorization server ${readable(issuer, 200)}`,
  );
}

/** What is not of its type is as if it were not there (RFC 8414 § 2). */
function wellFormed(document: Record<string, unknown>): Record<string, unknown> {
  const isFine = ([name, value]: [string, unknown]) => {
    if (name.endsWith("_endpoint")) return typeof value === "string";
    return (
      !name.endsWith("s_supported") ||
      (Array.isArray(value) && value.every((each) => typeof each === "string"))
    );
  };
  return Object.fromEntries(Object.entries(document).filter(isFine));
}

/** RFC 8414 § 3.1 and § 5; OpenID Connect Discovery § 4.1. */
function placesFor({ origin, pathname }: URL): string[] {
  const path = pathname.replace(/\/$/, "");
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
  ];
  return path === "" ? places : [...places, `${origin}${path}/.well-known/openid-configuration`];
}

/** What 2025-03-26 says to assume of a server without metadata (§ Fallbacks for Servers without Metadata Discovery). */
function defaultEndpoints(origin: string): AuthorizationServer {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  };
}
