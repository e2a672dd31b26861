/** Logging in to a server, out of it, and who one is there: without a connection. */

import { LATEST_MODERN, writeRequest } from "@patchbay/core";
import type { AuthorizationServer } from "oauth4webapi";
import { AuthorizationError } from "../errors.ts";
import { type Challenge, readChallenge } from "./challenge.ts";
import { isOf } from "./client-identity.ts";
import { step } from "./failures.ts";
import { doesPkce } from "./login.ts";
import { isLoopback } from "./loopback.ts";
import { Obtaining } from "./obtaining.ts";
import type { OAuthOptions } from "./options.ts";
import { shown } from "./reach.ts";
import { scopesIn } from "./scopes.ts";
import type { CredentialStore, Grant } from "./store.ts";
import { revoke } from "./tokens.ts";

/** What is kept of a login, without its secrets. */
export interface Account {
  /** The URL of the server. */
  readonly server: string;
  /** The authorization server. */
  readonly issuer: string;
  readonly resource: string;
  readonly clientId: string;
  /** Who the user is, where the authorization server says it. */
  readonly user: string | undefined;
  readonly scopes: readonly string[];
  /** When the token ends; unknown where the authorization server does not say it. */
  readonly expiresAt: Date | undefined;
  /** Whether the token is replaced by itself when it ends. */
  readonly refreshes: boolean;
}

/** What ended with a logout. */
export interface Logout {
  /** Whether the authorization server was told, and agreed. */
  readonly revoked: boolean;
}

/** Who authorizes for a server, and what a login there would take. */
export interface Authorized {
  readonly issuer: string;
  readonly resource: string;
  readonly scopes: readonly string[] | undefined;
  /**
   * How we would get a client id: it was given (`client_id`), a document says who we are (`document`), we are registered
   * already (`kept`), we would register now (`dynamic`), or there is no way (`none`).
   */
  readonly registration: "client_id" | "document" | "kept" | "dynamic" | "none";
  /** Whether it says that it does PKCE with S256: nobody logs in where it does not. */
  readonly doesPkce: boolean;
  /** Whether tokens are to be bound to a key (DPoP). */
  readonly bound: boolean;
  /** Nothing says that anybody gives tokens: 2025-03-26 assumes that the server's origin does. */
  readonly assumed: boolean;
}

export interface LoginOptions extends OAuthOptions {
  signal?: AbortSignal;
}

/**
 * Logs in, whether or not somebody is logged in already.
 *
 * @throws AuthorizationError that names the step which failed
 */
export async function login(server: string | URL, { signal, ...options }: LoginOptions): Promise<Account> {
  const url = checked(server);
  const obtaining = new Obtaining(url, options);
  const ended = signal ?? new AbortController().signal;
  const challenge = await ask(url, obtaining, ended);
  return accountOf((await obtaining.logIn(challenge, ended)).grant);
}

/** Forgets what is kept for a server, and tells its authorization server; nothing when there was nothing. */
export async function logout(
  server: string | URL,
  { signal, ...options }: LoginOptions & { store: CredentialStore },
): Promise<Logout | undefined> {
  const obtaining = new Obtaining(checked(server), options);
  const ended = signal ?? new AbortController().signal;
  const { store, server: key } = obtaining;
  const grant = await store.get("grant", key);
  if (grant === undefined) return undefined;
  await store.set("grant", key, undefined);
  return { revoked: await revoked(obtaining, grant, ended).catch(() => false) };
}

/** Who is logged in to a server; nothing when nobody is. */
export async function whoami(server: string | URL, store: CredentialStore): Promise<Account | undefined> {
  const grant = await store.get("grant", new Obtaining(checked(server), { store }).server);
  return grant && accountOf(grant);
}

/**
 * Finds out who authorizes for a server, and registers nowhere. A client secret should only be given once that is known,
 * and trusted.
 *
 * @throws AuthorizationError (`discovery`)
 */
export async function discoverAuthorization(
  server: string | URL,
  { signal, ...options }: LoginOptions = {},
): Promise<Authorized> {
  const url = checked(server);
  const ended = signal ?? new AbortController().signal;
  const obtaining = new Obtaining(url, options);
  const challenge = await ask(url, obtaining, ended);
  const found = await obtaining.discover(challenge, undefined, ended);
  const { authorizationServer, resource, scopes, dpop } = found;
  return {
    issuer: authorizationServer.issuer,
    resource,
    scopes,
    registration: await registrationAt(authorizationServer, obtaining),
    doesPkce: doesPkce(authorizationServer, found.legacy),
    bound: dpop,
    assumed: found.assumed,
  };
}

async function registrationAt(
  server: AuthorizationServer,
  { settings, store }: Obtaining,
): Promise<Authorized["registration"]> {
  const { clientId, clientMetadataUrl } = settings;
  if (clientId !== undefined) return "client_id";
  if (clientMetadataUrl !== undefined && server.client_id_metadata_document_supported === true)
    return "document";
  const kept = await store.get("registration", server.issuer);
  if (kept !== undefined && isOf(server, kept)) return "kept";
  return server.registration_endpoint === undefined ? "none" : "dynamic";
}

/** All logins that are kept. */
export async function accounts(store: CredentialStore): Promise<Account[]> {
  return (await store.list("grant")).map(accountOf);
}

async function revoked(obtaining: Obtaining, grant: Grant, signal: AbortSignal): Promise<boolean> {
  const { accessToken, refreshToken } = grant;
  const discovery = await obtaining.discover(undefined, grant, signal);
  // Another authorization server is not told of these tokens.
  if (discovery.authorizationServer.issuer !== grant.issuer) return false;
  const asking = await obtaining.asking(discovery, grant, signal);
  // With the refresh token goes all that came of it; an access token that explains itself cannot be called back.
  if (refreshToken === undefined) return revoke(asking, accessToken, "access_token");
  const told = await revoke(asking, refreshToken, "refresh_token");
  if (told) await revoke(asking, accessToken, "access_token").catch(() => false);
  return told;
}

/** What a server says to who shows nothing: most say who authorizes. */
async function ask(url: URL, { reach }: Obtaining, signal: AbortSignal): Promise<Challenge | undefined> {
  const response = await step("discovery", shown(url.href), signal, () =>
    reach.fetch(url.href, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": LATEST_MODERN,
        "mcp-method": "server/discover",
      },
      body: writeRequest(1, "server/discover", "{}"),
      signal,
    }),
  );
  if (response.status !== 401) return undefined;
  return readChallenge(response.headers.get("www-authenticate") ?? undefined);
}

function checked(server: string | URL): URL {
  const url = new URL(server);
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))) return url;
  throw new AuthorizationError(
    "discovery",
    `${shown(url.href)}: a login takes https, and on this machine http`,
  );
}

function accountOf(grant: Grant): Account {
  const { server, issuer, resource, clientId, user, scope, expiresAt, refreshToken } = grant;
  return {
    server,
    issuer,
    resource,
    clientId,
    user,
    scopes: scopesIn(scope),
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt),
    refreshes: refreshToken !== undefined,
  };
}
