/** What verifies tokens: one contract, whatever does it. */

import type { JsonObject } from "@patchbay/core";

/** What a good token says. */
export interface VerifiedToken {
  issuer: string;
  subject: string;
  clientId?: string | undefined;
  scopes?: readonly string[];
  /** Milliseconds since 1970. A token without is verified with each request. */
  expiresAt?: number | undefined;
  /** All that it says. A `cnf` in it binds the token to a key (RFC 7800): it then counts with a proof alone. */
  claims?: JsonObject;
}

/**
 * Verifies a token: that it was issued for this server, and counts now.
 *
 * @param signal aborts when the request is not waited for any more
 * @returns who it names
 * @throws whatever is wrong with it: the request is then refused. Only the text of a `RefusedTokenError` is told
 */
export type VerifyToken = (token: string, signal: AbortSignal) => VerifiedToken | Promise<VerifiedToken>;

export interface TokenVerifier {
  verify: VerifyToken;
  /** The issuers whose tokens it takes; clients are told to log in there. */
  issuers?: readonly string[];
  /** Who its tokens have to be for. */
  audience?: readonly string[];
  /** Milliseconds for which a token is not verified again, at most. Default: until it expires. */
  rememberMs?: number;
}

/** A token is refused, for a reason that its sender may be told. */
export class RefusedTokenError extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(why, options);
    this.name = "RefusedTokenError";
  }
}

/** Begins the subject of a client that has none. */
const CLIENT = "client ";

/**
 * Reads what a token's claims say (RFC 9068 § 2.2, RFC 7662 § 2.2).
 *
 * @throws RefusedTokenError when they do not say whose it is
 */
export function readClaims(claims: JsonObject, issuer: string): VerifiedToken {
  const { sub, client_id, azp, scope, scp, exp } = claims;
  const clientId = textOf(client_id) ?? textOf(azp);
  // A client that acts for itself may have no subject; no user is mistaken for it.
  if (typeof sub === "string" && sub.startsWith(CLIENT))
    throw new RefusedTokenError("its sub is how clients without one are called here");
  const subject = textOf(sub) ?? (clientId && CLIENT + clientId);
  if (subject === undefined) throw new RefusedTokenError("it does not say whose it is (sub)");
  const scopes = scope ?? scp;
  const listed = typeof scopes === "string" ? scopes.split(" ") : Array.isArray(scopes) ? scopes : [];
  return {
    issuer,
    subject,
    clientId,
    scopes: listed.filter((each): each is string => typeof each === "string" && each !== ""),
    expiresAt: typeof exp === "number" ? exp * 1000 : undefined,
    claims,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
