/** Who we are to an authorization server: registered before, by a document, or now (client-registration). */

import { isObject } from "@patchbay/core";
import {
  type AuthorizationServer,
  allowInsecureRequests,
  type Client,
  type ClientAuth,
  customFetch,
  dynamicClientRegistrationRequest,
  None,
  PrivateKeyJwt,
  processDynamicClientRegistrationResponse,
} from "oauth4webapi";
import { AuthorizationError } from "../errors.ts";
import { signingKey } from "./keys.ts";
import { isLoopback } from "./loopback.ts";
import type { OAuthSettings } from "./options.ts";
import type { Reach } from "./reach.ts";
import type { CredentialStore, Grant, Registration } from "./store.ts";

/** Who we are, and how that is shown. */
export interface Identity {
  readonly client: Client;
  readonly authenticate: ClientAuth;
  /** What has to be kept to be the same again. */
  readonly credentials: Credentials;
}

type Credentials = Pick<Registration, "clientSecret" | "authMethod">;

/** Nobody in particular, where what is shown says it all. */
export const NOBODY: Identity = { client: { client_id: "none" }, authenticate: () => {}, credentials: {} };

/** What registering takes. */
export interface Registering {
  readonly server: AuthorizationServer;
  readonly reach: Reach;
  readonly store: CredentialStore;
  readonly options: OAuthSettings;
  readonly signal: AbortSignal;
}

const METHODS = ["none", "client_secret_basic", "client_secret_post"];

/** Who we are where we were registered before, or a document says it; else nothing. */
export async function fixedIdentity({ server, options }: Registering): Promise<Identity | undefined> {
  const { clientId, clientMetadataUrl, clientSecret, clientAuthMethod, privateKey } = options;
  const how = { secret: clientSecret, method: clientAuthMethod, privateKey };
  if (clientId !== undefined) return identity(server, clientId, how);
  if (clientMetadataUrl === undefined || server.client_id_metadata_document_supported !== true)
    return undefined;
  return identity(server, clientMetadataUrl, how);
}

/** Who we registered as here before, to be sent back to this place. */
export async function keptIdentity(
  { server, store }: Registering,
  redirectUri: string,
): Promise<Identity | undefined> {
  const kept = await store.get("registration", server.issuer);
  return kept?.redirectUri === redirectUri && isOf(server, kept) ? registered(server, kept) : undefined;
}

/** Who we were when we got a grant here. */
export function identityOf(server: AuthorizationServer, grant: Grant): Promise<Identity> {
  return registered(server, grant);
}

/** Registers us, to be sent back to this place. */
export async function register(registering: Registering, redirectUri: string): Promise<Identity> {
  const { server, store } = registering;
  const registration = await registerNow(registering, redirectUri);
  await store.set("registration", server.issuer, registration);
  return registered(server, registration);
}

async function registered(
  server: AuthorizationServer,
  { clientId, clientSecret, authMethod }: Credentials & { clientId: string },
): Promise<Identity> {
  const known = await identity(server, clientId, { secret: clientSecret, method: authMethod });
  return {
    ...known,
    credentials: { ...(clientSecret !== undefined && { clientSecret }), ...(authMethod && { authMethod }) },
  };
}

/** A registration counts for the issuer that gave it, and as long as its secret does. */
export function isOf(
  { issuer }: AuthorizationServer,
  { issuer: given, clientSecretExpiresAt = 0 }: Registration,
): boolean {
  return given === issuer && (clientSecretExpiresAt === 0 || clientSecretExpiresAt > Date.now());
}

async function registerNow(
  { server, reach, options, signal }: Registering,
  redirectUri: string,
): Promise<Registration> {
  if (server.registration_endpoint === undefined) {
    throw new AuthorizationError(
      "registration",
      `${server.issuer} lets nobody register by themselves: register a client there, and give its clientId`,
    );
  }
  const { hostname, protocol } = new URL(redirectUri);
  const request = {
    client_name: options.clientName,
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: methodFor(server),
    // "web" would be assumed, which may not be sent back to this machine.
    application_type: protocol === "https:" && !isLoopback(hostname) ? "web" : "native",
  };
  const response = await dynamicClientRegistrationRequest(server, request, {
    [customFetch]: reach.fetch as typeof fetch,
    [allowInsecureRequests]: true,
    signal,
  });
  const given = await processDynamicClientRegistrationResponse(await mended(response));
  const { client_id: clientId, client_secret: clientSecret, client_secret_expires_at: expiresAt } = given;
  const method = given.token_endpoint_auth_method ?? request.token_endpoint_auth_method;
  return {
    issuer: server.issuer,
    clientId,
    redirectUri,
    ...(typeof method === "string" && { authMethod: method }),
    ...(typeof clientSecret === "string" && { clientSecret }),
    ...(typeof expiresAt === "number" && expiresAt > 0 && { clientSecretExpiresAt: expiresAt * 1_000 }),
  };
}

/** Many servers answer 200 for 201, and do not say when the secret ends, though RFC 7591 wants both. */
async function mended(response: Response): Promise<Response> {
  if (response.status !== 200 && response.status !== 201) return response;
  const body: unknown = await response.json().catch(() => undefined);
  return Response.json({ client_secret_expires_at: 0, ...(isObject(body) && body) }, { status: 201 });
}

/** The way to show who we are that gives away least, of those that a server takes. */
function methodFor({ token_endpoint_auth_methods_supported: supported }: AuthorizationServer): string {
  return METHODS.find((method) => supported?.includes(method) === true) ?? "none";
}

async function identity(
  server: AuthorizationServer,
  clientId: string,
  how: { secret?: string | undefined; method?: string | undefined; privateKey?: OAuthSettings["privateKey"] },
): Promise<Identity> {
  return {
    client: { client_id: clientId },
    authenticate: await authentication(server, how),
    credentials: {},
  };
}

async function authentication(
  { token_endpoint_auth_methods_supported: supported }: AuthorizationServer,
  { secret, method, privateKey }: Parameters<typeof identity>[2],
): Promise<ClientAuth> {
  if (privateKey !== undefined) return PrivateKeyJwt(await signingKey(privateKey));
  if (secret === undefined || method === "none") return None();
  const posts = supported !== undefined && !supported.includes("client_secret_basic");
  return (method ?? (posts ? "client_secret_post" : "client_secret_basic")) === "client_secret_post"
    ? secretPost(secret)
    : secretBasic(secret);
}

/** The secret in the body of the request. */
export function secretPost(secret: string): ClientAuth {
  return (_server, client, body) => {
    body.set("client_id", client.client_id);
    body.set("client_secret", secret);
  };
}

/** As a form is encoded (RFC 6749 § 2.3.1), and no more: many servers take an id with a `-` in it as it stands. */
function secretBasic(secret: string): ClientAuth {
  const encoded = (text: string) => new URLSearchParams([["", text]]).toString().slice(1);
  return (_server, client, _body, headers) => {
    const credentials = `${encoded(client.client_id)}:${encoded(secret)}`;
    headers.set("authorization", `Basic ${Buffer.from(credentials).toString("base64")}`);
  };
}
