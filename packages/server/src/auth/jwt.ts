/** Access tokens that are JWTs, verified by the keys that their issuer publishes (RFC 9068, RFC 7517). */

import type { JsonObject } from "@patchbay/core";
import { createRemoteJWKSet, customFetch, errors, jwtVerify, type RemoteJWKSet } from "jose";
import { boundedFetch, fetchObject, secureUrl } from "./json-over-http.ts";
import { RefusedTokenError, readClaims, type TokenVerifier, type VerifiedToken } from "./verifier.ts";

export interface JwtVerifierOptions {
  /** The authorization server, exactly as it writes itself in `iss`. */
  issuer: string;
  /** Who tokens have to be for: this server's URL, or whatever the issuer writes in `aud`. One of several is enough. */
  audience: string | readonly string[];
  /** Where its keys are. Default: where its metadata says (RFC 8414, or OpenID Connect). */
  jwksUri?: string;
  /** Signatures that count. Default: RS256 to 512, PS256 to 512, ES256 to 512, EdDSA, Ed25519. Never symmetric ones. */
  algorithms?: readonly string[];
  /** The `typ` that tokens have to have, such as `at+jwt`. Default: any, as many issuers write `JWT`. */
  type?: string;
  /** Seconds by which clocks may differ. Default 0. */
  clockTolerance?: number;
}

const ALGORITHMS = [
  ..."RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512".split(" "),
  ...["EdDSA", "Ed25519"],
];
/** Milliseconds after which what could not be had is asked for again. */
const RETRY_AFTER = 5000;

/**
 * Verifies JWTs of one issuer. Its keys are fetched when the first token comes, kept for 10 minutes, and fetched again
 * when a token names one that is not there, at most every 30 seconds.
 *
 * @throws Error for options that would let in anything else
 */
export function jwtVerifier(options: JwtVerifierOptions): TokenVerifier {
  const { issuer, type, algorithms = ALGORITHMS, clockTolerance = 0 } = options;
  secureUrl("issuer", issuer);
  const audience = audienceOf(options.audience);
  const weak = algorithms.find((each) => /^(none|HS\d+)$/i.test(each));
  if (weak !== undefined || algorithms.length === 0)
    throw new Error(`algorithms: ${weak ?? "none"} is no signature that others cannot make`);
  const keysOf = keyFinder(options);

  return {
    issuers: [issuer],
    audience,
    async verify(token) {
      const keys = await keysOf();
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer,
          audience: [...audience],
          algorithms: [...algorithms],
          requiredClaims: ["exp"],
          clockTolerance,
          ...(type !== undefined && { typ: type }),
        });
        return tolerant(readClaims(payload as JsonObject, issuer), clockTolerance);
      } catch (thrown) {
        throw refusal(thrown);
      }
    },
  };
}

/** A token lives as much longer as clocks may differ. */
function tolerant(token: VerifiedToken, seconds: number): VerifiedToken {
  const { expiresAt } = token;
  return seconds === 0 || expiresAt === undefined
    ? token
    : { ...token, expiresAt: expiresAt + seconds * 1000 };
}

/** @throws Error where there is none: then a token for any server would do (RFC 8707) */
export function audienceOf(given: string | readonly string[]): readonly string[] {
  const audience = typeof given === "string" ? [given] : (given ?? []);
  if (audience.length > 0 && audience.every((each) => typeof each === "string" && each !== ""))
    return audience;
  throw new Error("audience is missing: who tokens have to be for, such as the URL of this server");
}

/** Finds the keys once, however many ask; what failed is tried again after a while. */
function keyFinder({ issuer, jwksUri }: JwtVerifierOptions): () => Promise<RemoteJWKSet> {
  let finding: Promise<RemoteJWKSet> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  const given = jwksUri === undefined ? undefined : remoteKeys(secureUrl("jwksUri", jwksUri));
  const find = async () => {
    try {
      return given ?? remoteKeys(secureUrl("jwks_uri", await jwksUriOf(issuer)));
    } catch (thrown) {
      failedAt = performance.now();
      throw thrown;
    }
  };
  return () => {
    if (finding !== undefined && performance.now() - failedAt > RETRY_AFTER && failedAt > 0) {
      finding = undefined;
      failedAt = Number.NEGATIVE_INFINITY;
    }
    finding ??= find();
    return finding;
  };
}

/** Keys that could not be had are not fetched again at once: anybody can name one that is not there. */
function remoteKeys(url: URL): RemoteJWKSet {
  let fetchedAt = Number.NEGATIVE_INFINITY;
  return createRemoteJWKSet(url, {
    [customFetch]: (where, { method, headers, signal }) => {
      if (performance.now() - fetchedAt < RETRY_AFTER)
        throw new Error(`${url} gave no keys a moment ago, and is not asked again so soon`);
      fetchedAt = performance.now();
      return boundedFetch(where, { method, headers, signal });
    },
  });
}

/** Where an issuer's metadata says its keys are (RFC 8414 § 3, OpenID Connect Discovery § 4). */
async function jwksUriOf(issuer: string): Promise<string> {
  for (const place of metadataPlaces(issuer)) {
    const metadata = await fetchObject(place, { headers: { accept: "application/json" } });
    if (metadata === undefined) continue;
    if (metadata.issuer !== issuer)
      throw new Error(
        `The metadata at ${place} is that of another issuer: ${JSON.stringify(metadata.issuer)}`,
      );
    if (typeof metadata.jwks_uri === "string") return metadata.jwks_uri;
  }
  throw new Error(`${issuer} has no metadata with a jwks_uri: name it with jwksUri`);
}

function metadataPlaces(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  return [...new Set(places)];
}

/** What is wrong with a token may be told to who sent it; that its keys could not be had is for the operator. */
function refusal(thrown: unknown): unknown {
  if (thrown instanceof errors.JWTExpired) return new RefusedTokenError("it has expired", { cause: thrown });
  if (thrown instanceof errors.JWTClaimValidationFailed)
    return new RefusedTokenError(`its ${thrown.claim} is not what it has to be`, { cause: thrown });
  if (thrown instanceof errors.JWKSTimeout || thrown instanceof errors.JWKSInvalid) return thrown;
  if (thrown instanceof errors.JOSEError && thrown.code !== "ERR_JOSE_GENERIC")
    return new RefusedTokenError("it is not signed as it has to be", { cause: thrown });
  return thrown;
}
