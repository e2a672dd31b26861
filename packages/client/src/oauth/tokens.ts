/** Tokens of a token endpoint: by a code, by a refresh token, or without a user. */

import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  customFetch,
  genericTokenEndpointRequest,
  getValidatedIdTokenClaims,
  isDPoPNonceError,
  type JsonObject,
  processGenericTokenEndpointResponse,
  processRevocationResponse,
  refreshTokenGrantRequest,
  revocationRequest,
  type TokenEndpointResponse,
} from "oauth4webapi";
import { AuthorizationError } from "../errors.ts";
import type { Identity } from "./client-identity.ts";
import type { BoundKey } from "./keys.ts";
import type { Reach } from "./reach.ts";
import { scopesIn } from "./scopes.ts";
import type { Grant } from "./store.ts";

/** Whom a token endpoint gives tokens, and for what. */
export interface Asking extends Identity {
  readonly authorizationServer: AuthorizationServer;
  readonly reach: Reach;
  /** The server that they are sent to, and the resource that it is. */
  readonly server: string;
  readonly resource: string;
  readonly scope: string | undefined;
  /** What they are bound to, if the server wants them to be. */
  readonly key: BoundKey | undefined;
}

/** A token that an `Authorization` header can hold: visible ASCII, and no space that would end it. */
const SENDABLE = /^[\x21-\x7e]+$/;
/** Milliseconds since 1970 that are a date yet; what ends later does not end. */
const LAST_DATE = 8.64e15;
/** Times that a token endpoint may ask for another nonce. */
const MAX_NONCES = 2;

/** Exchanges a code (validated, with its `state` and `iss`) for tokens. */
export function byCode(
  asking: Asking,
  params: URLSearchParams,
  redirectUri: string,
  verifier: string,
): Promise<Grant> {
  const { authorizationServer, client, authenticate, resource } = asking;
  return ask(asking, () =>
    authorizationCodeGrantRequest(authorizationServer, client, authenticate, params, redirectUri, verifier, {
      ...optionsOf(asking),
      additionalParameters: { resource },
    }),
  );
}

/** Gets new tokens by a refresh token; the old one stays where there is no new one. */
export async function byRefresh(asking: Asking, before: Grant & { refreshToken: string }): Promise<Grant> {
  const { authorizationServer, client, authenticate, resource } = asking;
  const { refreshToken, scope, requestedScope, user } = before;
  const grant = await ask(asking, () =>
    refreshTokenGrantRequest(authorizationServer, client, authenticate, refreshToken, {
      ...optionsOf(asking),
      additionalParameters: { resource },
    }),
  );
  return {
    refreshToken,
    ...(scope !== undefined && { scope }),
    ...(user !== undefined && { user }),
    ...grant,
    ...(requestedScope !== undefined && { requestedScope }),
  };
}

/** Gets tokens by any other grant. */
export function byGrant(asking: Asking, type: string, parameters: Record<string, string>): Promise<Grant> {
  const { authorizationServer, client, authenticate, resource, scope } = asking;
  const all = { ...parameters, resource, ...(scope !== undefined && { scope }) };
  return ask(asking, () =>
    genericTokenEndpointRequest(authorizationServer, client, authenticate, type, all, optionsOf(asking)),
  );
}

/** Tells an authorization server that a token is no longer used (RFC 7009), where it can be told. */
export async function revoke(
  asking: Asking,
  token: string,
  hint: "access_token" | "refresh_token",
): Promise<boolean> {
  const { authorizationServer, client, authenticate } = asking;
  if (authorizationServer.revocation_endpoint === undefined) return false;
  const options = { ...optionsOf(asking), additionalParameters: { token_type_hint: hint } };
  await processRevocationResponse(
    await revocationRequest(authorizationServer, client, authenticate, token, options),
  );
  return true;
}

async function ask(asking: Asking, request: () => Promise<Response>): Promise<Grant> {
  const { authorizationServer, client } = asking;
  for (let nonces = 0; ; nonces++) {
    try {
      const response = await request();
      const given = await processGenericTokenEndpointResponse(authorizationServer, client, response);
      return toGrant(asking, given);
    } catch (error) {
      // The nonce that it wants came with its answer.
      if (asking.key === undefined || nonces >= MAX_NONCES || !isDPoPNonceError(error)) throw error;
    }
  }
}

/** What was asked is heard to the end, whoever gives up waiting: a refresh token that was taken is worth nothing more. */
function optionsOf({ reach, key }: Asking) {
  return {
    [customFetch]: reach.fetch as typeof fetch,
    // Which URLs may be asked is seen to where they are.
    [allowInsecureRequests]: true,
    ...(key && { DPoP: key.handle }),
  };
}

function toGrant(asking: Asking, given: TokenEndpointResponse): Grant {
  const { authorizationServer, client, credentials, server, resource, scope, key } = asking;
  const isBound = given.token_type === "dpop";
  if (isBound && key === undefined)
    throw new AuthorizationError(
      "token",
      `${authorizationServer.issuer} gave a DPoP token that nobody asked for`,
    );
  if (!SENDABLE.test(given.access_token))
    throw new AuthorizationError(
      "token",
      `${authorizationServer.issuer} gave a token that no header can hold`,
    );
  const now = Date.now();
  const expiresAt = now + (given.expires_in ?? Number.POSITIVE_INFINITY) * 1_000;
  const granted = given.scope === undefined ? scope : scopesIn(given.scope).join(" ");
  const claims = given.id_token === undefined ? undefined : getValidatedIdTokenClaims(given);
  const user = claims && nameOf(claims);
  return {
    server,
    issuer: authorizationServer.issuer,
    resource,
    clientId: client.client_id,
    ...credentials,
    accessToken: given.access_token,
    tokenType: isBound ? "dpop" : "bearer",
    givenAt: now,
    ...(expiresAt <= LAST_DATE && { expiresAt }),
    ...(given.refresh_token !== undefined && { refreshToken: given.refresh_token }),
    ...(granted !== undefined && { scope: granted }),
    ...(scope !== undefined && { requestedScope: scope }),
    ...(isBound && key && { key: { ...key.jwk } }),
    ...(user !== undefined && { user }),
  };
}

function nameOf(claims: JsonObject): string | undefined {
  const { email, preferred_username, name, sub } = claims;
  return [email, preferred_username, name, sub].find((each): each is string => typeof each === "string");
}
