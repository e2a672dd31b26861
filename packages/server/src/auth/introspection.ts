/** Tokens that only their issuer can read: it is asked about each (RFC 7662). */

import { fetchObject, secureUrl } from "./json-over-http.ts";
import { audienceOf } from "./jwt.ts";
import { RefusedTokenError, readClaims, type TokenVerifier } from "./verifier.ts";

export interface IntrospectionOptions {
  /** The authorization server. */
  issuer: string;
  /** Where it answers questions about tokens. */
  endpoint: string;
  /** Who tokens have to be for: one of these has to be in `aud`. */
  audience: string | readonly string[];
  /** Who we are to the issuer. */
  clientId: string;
  clientSecret: string;
  /**
   * Milliseconds for which an answer is believed, if the token does not expire before: a token that is revoked counts
   * that much longer. 0 to ask about each request. Default 60 s.
   */
  rememberMs?: number;
}

/**
 * Verifies tokens by asking their issuer.
 *
 * @throws Error for a URL without https, or a missing audience
 */
export function introspection(options: IntrospectionOptions): TokenVerifier {
  const { issuer, clientId, clientSecret, rememberMs = 60_000 } = options;
  secureUrl("issuer", issuer);
  const endpoint = secureUrl("endpoint", options.endpoint);
  const audience = audienceOf(options.audience);
  // RFC 6749 § 2.3.1: both are encoded as in a form first.
  const credentials = btoa([clientId, clientSecret].map(formEncoded).join(":"));

  return {
    issuers: [issuer],
    audience,
    rememberMs,
    async verify(token, signal) {
      const answer = await fetchObject(endpoint, {
        method: "POST",
        headers: { authorization: `Basic ${credentials}`, accept: "application/json" },
        body: new URLSearchParams({ token, token_type_hint: "access_token" }),
        signal,
      });
      if (answer === undefined)
        throw new Error(`${endpoint} does not answer about tokens: are the credentials right?`);
      if (answer.active !== true) throw new RefusedTokenError("it does not count (any more)");
      const { aud, iss, token_type, cnf } = answer;
      if (iss !== undefined && iss !== issuer)
        throw new RefusedTokenError("its iss is not what it has to be");
      const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
      if (!audience.some((each) => audiences.includes(each)))
        throw new RefusedTokenError("its aud is not what it has to be");
      // A refresh token is no access token, whoever sends it.
      if (token_type !== undefined && !/^(bearer|dpop)$/i.test(String(token_type)))
        throw new RefusedTokenError("it is no access token");
      if (/^dpop$/i.test(String(token_type)) && cnf === undefined)
        throw new RefusedTokenError("it is bound to a key, and its issuer does not say to which");
      return readClaims(answer, issuer);
    },
  };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ _: text }).toString().slice(2);
}
