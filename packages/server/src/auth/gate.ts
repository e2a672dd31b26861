/** The gate in front of the HTTP transports: it lets a request through whose token is good (basic/authorization). */

import { type JsonObject, limitError, ProtocolError, toErrorObject } from "@patchbay/core";
import type { McpServer } from "../server.ts";
import { after } from "../timers.ts";
import { type HttpExchange, JSON_TYPE } from "../transports/http/exchange.ts";
import { refuse, refuseForNow, refuseMethod } from "../transports/http/responses.ts";
import { type Access, authOf, checkScopes, principalOf } from "./access.ts";
import { type Binding, type DpopOptions, ProofChecker, RefusedProofError, thumbprintOf } from "./dpop.ts";
import { hashOf, plainHashOf, Remembered } from "./remembered.ts";
import { type Challenge, challengeOf, Resources, WELL_KNOWN } from "./resource.ts";
import { RefusedTokenError, type TokenVerifier, type VerifyToken } from "./verifier.ts";

export interface AuthOptions {
  /** Verifies tokens: `jwtVerifier`, `introspection` or `staticKeys` of `@patchbay/server/auth`, or your own. */
  verify: TokenVerifier | VerifyToken;
  /** The URLs of this server, as clients use them. Default: the verifier's audience, as far as it is URLs. */
  resource?: string | readonly string[];
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
  /** How tokens that are bound to a key are taken (RFC 9449); false: not at all. Default: with a proof. */
  dpop?: DpopOptions | false;
  /** Verified tokens that are remembered, until they expire. Default 10,000. */
  maxRemembered?: number;
  /** Characters of an `Authorization` header, and of a `DPoP` header. Default 8192. */
  maxTokenLength?: number;
  /** Tokens that may be in the verifier's hands at once; a request beyond gets a 503. Default 256. */
  maxVerifying?: number;
  /** Milliseconds that it is given for one. Default 10 s. */
  verifyTimeout?: number;
}

export interface Gate {
  /**
   * Sets whose a request is and hands it on, or answers it. Preflights are handed on; the metadata is given to all.
   *
   * @param at the path of the endpoint that it is for. Default: its own
   */
  admit(http: HttpExchange, next: (http: HttpExchange) => void, at?: string): void;
}

/** What is known of a token. */
interface Known {
  readonly access: Access;
  /** What it is bound to: then each request takes a proof. */
  readonly binding: Binding | undefined;
}

/** A request on its way in. */
interface Coming {
  readonly http: HttpExchange;
  readonly next: (http: HttpExchange) => void;
  readonly at: string;
  readonly header: string;
}

const CREDENTIALS = /^(Bearer|DPoP) +([\w.~+/-]+=*)$/i;
const isDpop = (header: string): boolean => /^DPoP /i.test(header);

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
  const urls = urlsOf(verifier, options);
  const proofs = proofsOf(server, urls, options);
  const requiresProofs = options.dpop !== false && options.dpop?.required === true;
  const resources = resourcesOf(server, verifier, urls, options, proofs);
  const remembered = new Remembered<Known>(maxRemembered);
  const verifying = new Map<string, Promise<Known>>();

  /** @param bound whether it asks for a token that is bound to a key */
  function challenge(at: string, bound: boolean, parameters: Challenge, scopes = needed): string {
    const all = { ...parameters, scope: scopes.join(" "), resource_metadata: resources?.urlFor(at) };
    if (!bound || proofs === undefined) return challengeOf("Bearer", all);
    return challengeOf("DPoP", { ...all, algs: proofs.algorithms.join(" ") });
  }

  /** All that an operation needs is asked for at once (§ Server Scope Management). */
  function challengeFor(scopes: readonly string[], at: string, bound: boolean): string {
    return challenge(at, bound, { error: "insufficient_scope" }, [...new Set([...needed, ...scopes])]);
  }

  function unauthorized(
    http: HttpExchange,
    at: string,
    why: string,
    error?: NonNullable<Challenge["error"]>,
  ): void {
    const parameters = error === undefined ? {} : { error, error_description: why };
    const bound = requiresProofs || isDpop(http.header("authorization") ?? "");
    http.setHeader("www-authenticate", challenge(at, bound, parameters));
    refuse(http, error === "invalid_request" ? 400 : 401, `Unauthorized: ${why}`);
  }

  function pass({ http, next, at }: Coming, { access, binding }: Known): void {
    const missing = needed.find((scope) => !access.granted.has(scope));
    if (missing !== undefined) {
      http.setHeader("www-authenticate", challengeFor([], at, binding !== undefined));
      return refuse(http, 403, `Forbidden: the token lacks the scope ${missing}`);
    }
    http.access = access;
    next(http);
  }

  /** What is known lets in who has the key that it is bound to, if it is. */
  function admitKnown(coming: Coming, known: Known): void {
    const { binding, access } = known;
    if (binding === undefined) return pass(coming, known);
    const { http, at } = coming;
    if ((http.header("dpop")?.length ?? 0) > maxTokenLength) {
      const why = `the DPoP header is longer than maxTokenLength (${maxTokenLength})`;
      return unauthorized(http, at, why, "invalid_dpop_proof");
    }
    (proofs as ProofChecker).check(http, binding, access.principal as string).then(
      () => pass(coming, known),
      (thrown) => turnAway(coming, thrown),
    );
  }

  /** A token that nobody knows yet: it counts when the verifier says so, and only then. */
  function verify(hash: string, header: string): Promise<Known> {
    const known = verifying.get(hash);
    if (known !== undefined) return known;
    const begun = verified(header, hash).finally(() => verifying.delete(hash));
    verifying.set(hash, begun);
    return begun;
  }

  async function verified(header: string, hash: string): Promise<Known> {
    const [, scheme = "", token] = CREDENTIALS.exec(header) ?? [];
    if (token === undefined)
      throw new RefusedTokenError("the Authorization header is not Bearer and a token");
    if (requiresProofs && !isDpop(header))
      throw new RefusedTokenError("this server takes only tokens that are bound to a key (DPoP)");
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
      const jkt = thumbprintOf(auth.claims);
      checkScheme(scheme, jkt, proofs !== undefined);
      const access: Access = {
        auth,
        principal: principalOf(auth.issuer, auth.subject),
        granted: new Set(auth.scopes),
        challenge: (scopes, at) => challengeFor(scopes, at, jkt !== undefined),
      };
      const binding = jkt === undefined ? undefined : { jkt, ath: await plainHashOf(token) };
      const known: Known = { access, binding };
      const { rememberMs = auth.expiresAt === undefined ? 0 : Number.POSITIVE_INFINITY } = verifier;
      const until = Math.min(auth.expiresAt ?? Number.POSITIVE_INFINITY, Date.now() + rememberMs);
      if (rememberMs > 0) remembered.set(hash, known, until);
      return known;
    } finally {
      callOff();
    }
  }

  function turnAway({ http, at }: Coming, thrown: unknown): void {
    if (thrown instanceof ProtocolError) return refuseForNow(http, toErrorObject(thrown));
    const told = thrown instanceof RefusedTokenError;
    if (!told) server.report(thrown, "auth");
    const code = thrown instanceof RefusedProofError ? thrown.code : "invalid_token";
    unauthorized(http, at, told ? thrown.message : "the token could not be verified", code);
  }

  function admitUnknown(coming: Coming, hash: string): void {
    if (verifying.size >= maxVerifying && !verifying.has(hash)) {
      const what = `more tokens are being verified than maxVerifying allows (${maxVerifying}); try later`;
      return refuseForNow(coming.http, toErrorObject(limitError("maxVerifying", what, maxVerifying)));
    }
    verify(hash, coming.header).then(
      (known) => admitKnown(coming, known),
      (thrown) => turnAway(coming, thrown),
    );
  }

  function admitHashed(coming: Coming, hash: string): void {
    const known = remembered.get(hash);
    if (known === undefined) admitUnknown(coming, hash);
    else admitKnown(coming, known);
  }

  return {
    admit(http, next, at = http.path) {
      if (http.method === "OPTIONS") return next(http);
      if (http.path.startsWith(WELL_KNOWN)) return tellMetadata(http);
      const header = http.header("authorization");
      if (header === undefined) {
        const inUrl = http.query.has("access_token");
        const why = inUrl
          ? "a token belongs in the Authorization header, never in a URL"
          : "send a token in the Authorization header";
        return unauthorized(http, at, why, inUrl ? "invalid_request" : undefined);
      }
      if (header.length > maxTokenLength) {
        const why = `the token is longer than maxTokenLength (${maxTokenLength})`;
        return unauthorized(http, at, why, "invalid_token");
      }
      const coming: Coming = { http, next, at, header };
      const hash = hashOf(header);
      if (typeof hash === "string") return admitHashed(coming, hash);
      void hash.then((later) => admitHashed(coming, later));
    },
  };

  function tellMetadata(http: HttpExchange): void {
    const text = resources?.at(http.path);
    if (text === undefined) return refuse(http, 404, "There is no such metadata");
    if (http.method !== "GET") return refuseMethod(http, "the metadata is read by GET", "GET, OPTIONS");
    http.setHeader("cache-control", "public, max-age=300");
    http.respond(200, JSON_TYPE, text);
  }
}

/** @throws RefusedTokenError when a token is sent as what it is not (RFC 9449 § 7.2) */
function checkScheme(scheme: string, jkt: string | undefined, takesBound: boolean): void {
  if (jkt !== undefined && !takesBound)
    throw new RefusedTokenError("it is bound to a key, and this server takes bearer tokens");
  if (jkt !== undefined && !isDpop(`${scheme} `))
    throw new RefusedTokenError("it is bound to a key: send it as DPoP, with a proof");
  if (jkt === undefined && isDpop(`${scheme} `))
    throw new RefusedTokenError("it is not bound to a key: send it as Bearer");
}

/** The URLs of the server, as clients use them. */
function urlsOf(verifier: TokenVerifier, { resource }: AuthOptions): readonly string[] {
  if (resource !== undefined) return typeof resource === "string" ? [resource] : resource;
  return verifier.audience?.filter((each) => /^https?:\/\//.test(each)) ?? [];
}

/** @throws Error when bound tokens are wanted, and proofs could not be checked */
function proofsOf(
  server: McpServer,
  urls: readonly string[],
  { dpop = {} }: AuthOptions,
): ProofChecker | undefined {
  if (dpop === false) return undefined;
  const publicUrl =
    dpop.publicUrl ?? (URL.canParse(urls[0] ?? "") ? new URL(urls[0] as string).origin : undefined);
  if (publicUrl !== undefined) return new ProofChecker(server, publicUrl, dpop);
  if (dpop.required === true)
    throw new Error(
      "auth.dpop.publicUrl is missing: the URL that proofs are for, such as https://mcp.example.com",
    );
  return undefined;
}

/** @throws Error when clients could not find out what the server is */
function resourcesOf(
  server: McpServer,
  verifier: TokenVerifier,
  urls: readonly string[],
  options: AuthOptions,
  proofs: ProofChecker | undefined,
): Resources | undefined {
  const servers = options.authorizationServers ?? verifier.issuers ?? [];
  if (servers.length === 0) return undefined;
  if (urls.length === 0)
    throw new Error("auth.resource is missing: the URL of this server as clients use it");
  const scopes = options.scopesSupported ?? options.scopes ?? [];
  // A refresh token is no business of a resource (§ Refresh Tokens).
  if (scopes.includes("offline_access"))
    throw new Error('auth.scopes: "offline_access" is for clients to ask for');
  const { dpop } = options;
  return new Resources(urls, dpop === false ? undefined : dpop?.publicUrl, servers, {
    ...(scopes.length > 0 && { scopes_supported: [...scopes] }),
    resource_name: server.info.title ?? server.info.name,
    ...(proofs && { dpop_signing_alg_values_supported: [...proofs.algorithms] }),
    ...(dpop !== false && dpop?.required === true && { dpop_bound_access_tokens_required: true }),
    ...options.metadata,
  });
}
