/** Whose a request is, and what it may do. */

import { ErrorCode, type JsonObject, ProtocolError } from "@patchbay/core";
import { RefusedTokenError, type VerifiedToken } from "./verifier.ts";

/** What a verified token says of who sent it. The token itself is not in it. */
export interface AuthInfo {
  /** Who issued the token: with `subject` it names the user, or the client that acts for itself. */
  readonly issuer: string;
  readonly subject: string;
  readonly clientId: string | undefined;
  /** Those that were granted, and those that they include. */
  readonly scopes: readonly string[];
  /** Milliseconds since 1970; nothing where it does not expire. */
  readonly expiresAt: number | undefined;
  /** All that the token, or its issuer, said. */
  readonly claims: JsonObject;
}

/** Who a request over HTTP is made for. */
export interface Access {
  /** Nothing where no tokens are asked for. */
  readonly auth?: AuthInfo;
  /** Issuer and subject as one text: what is somebody's belongs to this. */
  readonly principal?: string;
  readonly granted: ReadonlySet<string>;
  /**
   * The `WWW-Authenticate` that says which scopes a request needs.
   *
   * @param at the path of the endpoint that was asked
   */
  challenge?(scopes: readonly string[], at: string): string;
}

/** Anybody, over HTTP, where no tokens are asked for: nothing was granted. */
export const ANYBODY: Access = { granted: new Set() };

/** The same for the same issuer and subject, and for no others. */
export function principalOf(issuer: string, subject: string): string {
  return JSON.stringify([issuer, subject]);
}

/**
 * Whether these scopes were granted. What has no access at all is a pipe, or memory: whoever is at its other end started
 * the server, and may do everything.
 */
export function permits(scopes: readonly string[] | undefined, access: Access | undefined): boolean {
  return scopes === undefined || access === undefined || scopes.every((scope) => access.granted.has(scope));
}

/** The token does not have the scopes that a request needs: over HTTP 403, with all that it needs. */
export class InsufficientScopeError extends ProtocolError {
  readonly scopes: readonly string[];

  /** @param what such as `Tool "erase"` */
  constructor(what: string, scopes: readonly string[]) {
    const message = `${what} needs the scopes ${scopes.join(" ")}: get a token that has them`;
    super(ErrorCode.InvalidRequest, message, { reason: "insufficient_scope", scopes: [...scopes] });
    this.name = "InsufficientScopeError";
    this.scopes = scopes;
  }
}

/**
 * Checks the scopes of a definition.
 *
 * @throws Error for what is no scope (RFC 6749 § 3.3)
 */
export function checkScopes(what: string, scopes: readonly string[] | undefined): void {
  for (const scope of scopes ?? []) {
    if (!/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
      throw new Error(
        `${what}: ${JSON.stringify(scope)} is no scope: visible ASCII without spaces, " and \\`,
      );
  }
}

/**
 * Reads what a verifier gave.
 *
 * @throws Error for what is no answer of one: nobody gets in by a mistake in it
 */
export function authOf(
  given: VerifiedToken | undefined,
  includes: Readonly<Record<string, readonly string[]>>,
): AuthInfo {
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
  includes: Readonly<Record<string, readonly string[]>>,
): ReadonlySet<string> {
  const all = new Set(scopes);
  // A set is walked to its end, what is added on the way included.
  for (const scope of all) {
    if (Object.hasOwn(includes, scope)) for (const each of includes[scope] ?? []) all.add(each);
  }
  return all;
}
