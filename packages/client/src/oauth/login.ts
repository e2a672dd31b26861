/** A user logs in: the authorization code grant, with PKCE (basic/authorization § Authorization Flow Steps). */

import {
  type AuthorizationServer,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  validateAuthResponse,
} from "oauth4webapi";
import { AuthorizationError, readable } from "../errors.ts";
import { fixedIdentity, type Identity, keptIdentity, type Registering, register } from "./client-identity.ts";
import { step } from "./failures.ts";
import type { BoundKey } from "./keys.ts";
import type { Browser, OAuthSettings, Visit } from "./options.ts";
import type { Reach } from "./reach.ts";
import type { Grant } from "./store.ts";
import { byCode } from "./tokens.ts";

/** What a login takes besides who registers. */
export interface LoggingIn extends Registering {
  /** The server that the token is for, and its resource. */
  readonly url: string;
  readonly resource: string;
  readonly scope: string | undefined;
  readonly key: BoundKey | undefined;
  /** The authorization server was found as 2025-03-26 has it: that it does PKCE, it need not say. */
  readonly legacy: boolean;
  /** The user is being asked: ends when what it returns is called. */
  readonly hold: () => () => void;
}

/**
 * Sends the user to the authorization server, and gets tokens by the code that comes back.
 *
 * @throws AuthorizationError when it is not to be trusted, or the user does not agree
 */
export async function logIn(login: LoggingIn): Promise<Grant> {
  const { server, options, signal, store } = login;
  const { issuer } = server;
  checkPkce(server, login.legacy);
  const fixed = await fixedIdentity(login);
  const before = fixed === undefined ? await store.get("registration", issuer) : undefined;
  const visit = await prepared(options, before?.redirectUri);
  try {
    const identity =
      fixed ??
      (await keptIdentity(login, visit.redirectUri)) ??
      (await step("registration", issuer, signal, () => register(login, visit.redirectUri)));
    return await visitWith(login, identity, visit);
  } finally {
    await visit.close();
  }
}

async function prepared(options: OAuthSettings, preferred: string | undefined): Promise<Visit> {
  try {
    return await browserOf(options).prepare(preferred);
  } catch (error) {
    const why = error instanceof Error ? readable(error.message) : "for no reason given";
    throw new AuthorizationError("login", `No browser can be sent back to us: ${why}`);
  }
}

async function visitWith(login: LoggingIn, identity: Identity, visit: Visit): Promise<Grant> {
  const { server, resource, scope, key, reach, signal } = login;
  const { issuer } = server;
  const { client } = identity;
  const verifier = generateRandomCodeVerifier();
  const state = generateRandomState();
  const url = authorizationEndpoint(server, reach);
  const { searchParams } = url;
  searchParams.set("response_type", "code");
  searchParams.set("client_id", client.client_id);
  searchParams.set("redirect_uri", visit.redirectUri);
  searchParams.set("code_challenge", await calculatePKCECodeChallenge(verifier));
  searchParams.set("code_challenge_method", "S256");
  searchParams.set("state", state);
  searchParams.set("resource", resource);
  if (scope !== undefined) searchParams.set("scope", scope);
  // OpenID Connect gives a refresh token to who was asked for it.
  if (scope?.split(" ").includes("offline_access") === true) searchParams.set("prompt", "consent");
  if (key !== undefined) searchParams.set("dpop_jkt", await key.handle.calculateThumbprint());
  const back = await sentBack(login, visit, url.href);
  const params = await step("login", issuer, signal, async () => {
    checkIssuer(server, back);
    return validateAuthResponse(server, client, back, state);
  });
  const asking = {
    authorizationServer: server,
    ...identity,
    reach,
    server: login.url,
    resource,
    scope,
    key,
  };
  return step("token", issuer, undefined, () => byCode(asking, params, visit.redirectUri, verifier));
}

/** Waits for the browser to come back; that is the user's time. */
async function sentBack(login: LoggingIn, visit: Visit, url: string): Promise<URL> {
  const { options, signal, hold } = login;
  const timeout = AbortSignal.timeout(options.loginTimeout);
  const release = hold();
  try {
    const back = await unless(AbortSignal.any([signal, timeout]), (ended) => visit.go(url, ended));
    const expected = new URL(visit.redirectUri);
    const came = URL.canParse(back) ? new URL(back) : undefined;
    if (came === undefined || came.origin !== expected.origin || came.pathname !== expected.pathname) {
      throw new AuthorizationError("login", `What came back is not a URL at ${visit.redirectUri}`);
    }
    return came;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof AuthorizationError) throw error;
    const late = `Nobody logged in within loginTimeout (${options.loginTimeout} ms)`;
    const why = error instanceof Error ? readable(error.message) : "for no reason given";
    throw new AuthorizationError("login", timeout.aborted ? late : `Nobody could be asked to log in: ${why}`);
  } finally {
    release();
  }
}

/** Work that an abort ends at once, whether or not it minds. */
function unless<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work(signal)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/**
 * Who answers is who was asked, to the letter (RFC 9207 § 2.4): before all else, for then not even an error counts. The
 * library compares too, but takes an empty `iss` for none.
 */
function checkIssuer(server: AuthorizationServer, { searchParams }: URL): void {
  const given = searchParams.getAll("iss");
  const needed = server.authorization_response_iss_parameter_supported === true;
  if (given.length === 0 && !needed) return;
  if (given.length === 1 && given[0] === server.issuer) return;
  throw new AuthorizationError(
    "login",
    `The answer to the login did not come from ${server.issuer} (iss): it is not used. Log in again, and beware of links ` +
      "that others gave you",
  );
}

/**
 * Whether a code that somebody steals is worth nothing to them (§ Authorization Code Protection). Who does not say so does
 * not, by 2025-11-25 and 2026-07-28, and no option changes that; 2025-03-26 asks nobody to say it.
 *
 * @param legacy whether it was found as 2025-03-26 has it
 */
export function doesPkce(server: AuthorizationServer, legacy: boolean): boolean {
  return server.code_challenge_methods_supported?.includes("S256") ?? legacy;
}

function checkPkce(server: AuthorizationServer, legacy: boolean): void {
  if (doesPkce(server, legacy)) return;
  const what = `${server.issuer} does not say that it does PKCE with S256 (code_challenge_methods_supported)`;
  throw new AuthorizationError("login", `${what}: logging in there would not be safe`);
}

/** Where the browser goes: no script, no file, and no service of this machine that a far server names. */
function authorizationEndpoint(server: AuthorizationServer, reach: Reach): URL {
  const { authorization_endpoint: endpoint, issuer } = server;
  if (endpoint === undefined)
    throw new AuthorizationError("login", `${issuer} has no authorization_endpoint`);
  return new URL(reach.check(endpoint));
}

function browserOf({ browser, onAuthorize, redirectUri }: OAuthSettings): Browser {
  if (browser !== undefined) return browser;
  if (onAuthorize === undefined) throw new Error("nobody can be asked");
  const go = async (url: string, signal: AbortSignal) => String(await onAuthorize(url, { signal }));
  return { prepare: async () => ({ redirectUri, go, close: async () => {} }) };
}
