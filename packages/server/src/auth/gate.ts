/** The gate in front of the HTTP transports: it lets a request through whose token is good (basic/authorization). */

import { type JsonObject, limitError, toErrorObject } from "@patchbay/core";
import type { McpServer } from "../server.ts";
import { after } from "../timers.ts";
import { type HttpExchange, JSON_TYPE } from "../transports/http/exchange.ts";
import { refuse, refuseForNow, refuseMethod } from "../transports/http/responses.ts";
import { type Access, type AuthInfo, checkScopes, principalOf } from "./access.ts";
import { hashOf, Remembered } from "./remembered.ts";
import { type Challenge, challengeOf, resourceMetadata, WELL_KNOWN } from "./resource.ts";
import { RefusedTokenError, type TokenVerifier, type VerifiedToken, type VerifyToken } from "./verifier.ts";

export interface AuthOptions {
  /** Verifies tokens: `jwtVerifier`, `introspection` or `staticKeys` of `@patchbay/server/auth`, or your own. */
  verify: TokenVerifier | VerifyToken;
  /** The URL of this server, as clients use it. Default: the verifier's audience, where that is one. */
  resource?: string;
  /** Scopes that every request needs. Default none. */
  scopes?: readonly string[];
  /** The scopes that the metadata names: what a client needs to begin. Default: `scopes`. */
  scopesSupported?: readonly string[];
  /** Scopes that include others, such as `{ "files": ["files:read", "files:write"] }`. */
  includes?: Readonly<Record<string, readonly string[]>>;
  /** Where clients log in. Default: the verifier's issuers. Without any there is no metadata. */
  authorizationServers?: readonly string[];
  /** More members of the metadata, such as `resource_documentation` (RFC 9728 § 2). */
  metadata?: JsonObject;
  /** Verified tokens that are remembered, until they expire. Default 10,000. */
  maxRemembered?: number;
  /** Characters of an `Authorization` header. Default 8192. */
  maxTokenLength?: number;
  /** Tokens that may be in the verifier's hands at once; a request beyond gets a 503. Default 256. */
  maxVerifying?: number;
  /** Milliseconds that it is given for one. Default 10 s. */
  verifyTimeout?: number;
}

export interface Gate {
  /** Sets whose a request is and hands it on, or answers it. Preflights are handed on; the metadata is given to all. */
  admit(http: HttpExchange, next: (http: HttpExchange) => void): void;
}

const BEARER = /^Bearer +([\w.~+/-]+=*)$/i;

/** @throws Error for options that leave it open what is to be verified */
export function createGate(server: McpServer, options: AuthOptions): Gate {
  const {
    scopes: needed = [],
    includes = {},
    maxRemembered = 10_000,
    maxTokenLength = 8192,
    maxVerifying = 256,
    verifyTimeout = 10_000,
  } = options;
  const verifier: TokenVerifier =
    typeof options.verify === "function" ? { verify: options.verify } : options.verify;
  if (typeof verifier?.verify !== "function")
    throw new Error("auth.verify is missing: a verifier of @patchbay/server/auth, or a function of yours");
  checkScopes("auth.scopes", needed);
  const metadata = metadataOf(server, verifier, options);
  const remembered = new Remembered<Access>(maxRemembered);
  const verifying = new Map<string, Promise<Access>>();

  function challenge(parameters: Challenge, scopes = needed): string {
    return challengeOf({ ...parameters, scope: scopes.join(" "), resource_metadata: metadata?.url });
  }

  /** All that an operation needs is asked for at once (§ Server Scope Management). */
  function challengeFor(scopes: readonly string[]): string {
    return challenge({ error: "insufficient_scope" }, [...new Set([...needed, ...scopes])]);
  }

  function unauthorized(http: HttpExchange, why: string, error?: "invalid_request" | "invalid_token"): void {
    const parameters = error === undefined ? {} : { error, error_description: why };
    http.setHeader("www-authenticate", challenge(parameters));
    refuse(http, error === "invalid_request" ? 400 : 401, `Unauthorized: ${why}`);
  }

  function pass(http: HttpExchange, access: Access, next: (http: HttpExchange) => void): void {
    const missing = needed.find((scope) => !access.granted.has(scope));
    if (missing !== undefined) {
      http.setHeader("www-authenticate", challengeFor([]));
      return refuse(http, 403, `Forbidden: the token lacks the scope ${missing}`);
    }
    http.access = access;
    next(http);
  }

  /** A token that nobody knows yet: it counts when the verifier says so, and only then. */
  function verify(hash: string, header: string): Promise<Access> {
    const known = verifying.get(hash);
    if (known !== undefined) return known;
    const begun = verified(header, hash).finally(() => verifying.delete(hash));
    verifying.set(hash, begun);
    return begun;
  }

  async function verified(header: string, hash: string): Promise<Access> {
    const token = BEARER.exec(header)?.[1];
    if (token === undefined)
      throw new RefusedTokenError("the Authorization header is not Bearer and a token");
    const abort = new AbortController();
    let callOff = () => {};
    const late = new Promise<never>((_, reject) => {
      callOff = after(verifyTimeout, () => {
        const error = new Error(`No answer came within verifyTimeout (${verifyTimeout} ms)`);
        abort.abort(error);
        reject(error);
      });
    });
    try {
      const given = await Promise.race([verifier.verify(token, abort.signal), late]);
      const auth = authOf(given, includes);
      const access: Access = {
        auth,
        principal: principalOf(auth.issuer, auth.subject),
        granted: new Set(auth.scopes),
        challenge: challengeFor,
      };
      const { rememberMs = auth.expiresAt === undefined ? 0 : Number.POSITIVE_INFINITY } = verifier;
      const until = Math.min(auth.expiresAt ?? Number.POSITIVE_INFINITY, Date.now() + rememberMs);
      if (rememberMs > 0) remembered.set(hash, access, until);
      return access;
    } finally {
      callOff();
    }
  }

  function admitUnknown(
    http: HttpExchange,
    header: string,
    hash: string,
    next: (http: HttpExchange) => void,
  ): void {
    if (verifying.size >= maxVerifying && !verifying.has(hash)) {
      const what = `more tokens are being verified than maxVerifying allows (${maxVerifying}); try later`;
      return refuseForNow(http, toErrorObject(limitError("maxVerifying", what, maxVerifying)));
    }
    verify(hash, header).then(
      (access) => pass(http, access, next),
      (thrown) => {
        const told = thrown instanceof RefusedTokenError;
        if (!told) server.report(thrown, "auth");
        unauthorized(http, told ? thrown.message : "the token could not be verified", "invalid_token");
      },
    );
  }

  function admitHashed(
    http: HttpExchange,
    header: string,
    hash: string,
    next: (http: HttpExchange) => void,
  ): void {
    const access = remembered.get(hash);
    if (access === undefined) admitUnknown(http, header, hash, next);
    else pass(http, access, next);
  }

  return {
    admit(http, next) {
      if (http.method === "OPTIONS") return next(http);
      const header = http.header("authorization");
      if (header === undefined) {
        if (http.path.startsWith(WELL_KNOWN)) return tellMetadata(http);
        if (http.query.has("access_token"))
          return unauthorized(
            http,
            "a token belongs in the Authorization header, never in a URL",
            "invalid_request",
          );
        return unauthorized(http, "send a bearer token in the Authorization header");
      }
      if (header.length > maxTokenLength)
        return unauthorized(
          http,
          `the token is longer than maxTokenLength (${maxTokenLength})`,
          "invalid_token",
        );
      if (http.path.startsWith(WELL_KNOWN)) return tellMetadata(http);
      const hash = hashOf(header);
      if (typeof hash === "string") return admitHashed(http, header, hash, next);
      void hash.then((later) => admitHashed(http, header, later, next));
    },
  };

  function tellMetadata(http: HttpExchange): void {
    if (metadata === undefined || !metadata.isAt(http.path))
      return refuse(http, 404, "There is no such metadata");
    if (http.method !== "GET") return refuseMethod(http, "the metadata is read by GET", "GET, OPTIONS");
    http.setHeader("cache-control", "public, max-age=300");
    http.respond(200, JSON_TYPE, metadata.text);
  }
}

function metadataOf(server: McpServer, verifier: TokenVerifier, options: AuthOptions) {
  const servers = options.authorizationServers ?? verifier.issuers ?? [];
  if (servers.length === 0) return undefined;
  const resource = options.resource ?? verifier.audience?.find((each) => /^https?:\/\//.test(each));
  if (resource === undefined)
    throw new Error("auth.resource is missing: the URL of this server as clients use it");
  const scopes = options.scopesSupported ?? options.scopes ?? [];
  // A refresh token is no business of a resource (§ Refresh Tokens).
  if (scopes.includes("offline_access"))
    throw new Error('auth.scopes: "offline_access" is for clients to ask for');
  return resourceMetadata(resource, servers, {
    ...(scopes.length > 0 && { scopes_supported: [...scopes] }),
    resource_name: server.info.title ?? server.info.name,
    ...options.metadata,
  });
}

/** @throws Error for what is no answer of a verifier: nobody gets in by a mistake in it */
function authOf(given: VerifiedToken | undefined, includes: NonNullable<AuthOptions["includes"]>): AuthInfo {
  const { issuer, subject, clientId, scopes = [], expiresAt, claims = {} } = given ?? ({} as VerifiedToken);
  if (typeof issuer !== "string" || typeof subject !== "string" || issuer === "" || subject === "")
    throw new Error("The verifier gave no issuer and subject");
  if (expiresAt !== undefined && !(expiresAt > Date.now())) throw new RefusedTokenError("it has expired");
  const all = Object.freeze([...withIncluded(scopes, includes)]);
  return Object.freeze({ issuer, subject, clientId, scopes: all, expiresAt, claims: Object.freeze(claims) });
}

/** A broader scope implies narrower ones (§ Step-Up Authorization Flow). */
function withIncluded(
  scopes: readonly string[],
  includes: NonNullable<AuthOptions["includes"]>,
): ReadonlySet<string> {
  const all = new Set(scopes);
  // A set is walked to its end, what is added on the way included.
  for (const scope of all) {
    if (Object.hasOwn(includes, scope)) for (const each of includes[scope] ?? []) all.add(each);
  }
  return all;
}
