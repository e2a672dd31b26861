/** How a client proves to a server behind a URL who asks: what a caller may choose. */

import type { JWK } from "jose";
import type { CredentialStore } from "./store.ts";

/** How to be authorized. Over stdio, and in this process, it has no meaning. */
export type Auth = TokenSource | OAuthOptions;

/** A token, or what gives one: called when there is none, and again when the server did not take the last. */
export type TokenSource = string | ((context: TokenContext) => string | Promise<string>);

/** What a source of tokens is told. */
export interface TokenContext {
  /** The token that the server did not take; nothing the first time. */
  readonly refused: string | undefined;
  /** The scopes that the server says it wants (403 `insufficient_scope`), separated by spaces. */
  readonly scope: string | undefined;
}

/** Tokens are got from the authorization server that the server names (basic/authorization). */
export interface OAuthOptions {
  /** Where credentials are kept. Default: in memory, for as long as the connection lasts. */
  store?: CredentialStore;
  /**
   * Sends the user to this URL with a browser, and gives the URL that the browser is sent back to, at `redirectUri`.
   * Without it, and without `browser`, nobody is asked: what is in the store, or a `grant`, has to do.
   */
  onAuthorize?: (url: string, context: { signal: AbortSignal }) => string | URL | Promise<string | URL>;
  /** Where `onAuthorize` is sent back to. Default `http://127.0.0.1/callback`. */
  redirectUri?: string;
  /** Does the work of `onAuthorize` and `redirectUri`: see `browser()` of `@patchbay/client/oauth`. */
  browser?: Browser;
  /** Gets tokens without a user. */
  grant?: MachineGrant;
  /** The issuer, exactly as it writes itself, that alone may authorize; `clientSecret` is one of its. */
  issuer?: string;
  /** A client id that was registered before. */
  clientId?: string;
  /** Its secret. It takes an `issuer`: a secret is sent to nobody else, whatever authorization server is named. */
  clientSecret?: string;
  /** A key that shows who we are, in place of a secret (`private_key_jwt`). */
  privateKey?: SigningKey;
  /** How the secret is sent. Default: what the authorization server takes. */
  clientAuthMethod?: "client_secret_basic" | "client_secret_post";
  /** An https URL of a document that says who we are (Client ID Metadata Document); our client id where they are taken. */
  clientMetadataUrl?: string;
  /** What users are told that they let in, where we register by ourselves. Default `Patchbay`. */
  clientName?: string;
  /** Scopes to ask for, separated by spaces. Default: what the server says it wants. */
  scope?: string;
  /** Hosts that may be at private addresses though the server is not; those of `issuer` and `idp` may in any case. */
  privateHosts?: readonly string[];
  /** Milliseconds that a user has to log in. Default 300,000. */
  loginTimeout?: number;
  /** Milliseconds for one request to an authorization server. Default 30,000. */
  requestTimeout?: number;
  /** Bytes of one document of an authorization server. Default 256 KiB. */
  maxDocumentBytes?: number;
  /** Times that a connection asks for more scopes than it was given. Default 10. */
  maxStepUps?: number;
}

/** Tokens without a user. */
export type MachineGrant = ClientCredentials | JwtBearer | EnterpriseManaged;

/** The client is its own user: it takes a `clientId` with a `clientSecret` or a `privateKey`. */
export interface ClientCredentials {
  type: "client_credentials";
}

/** Something vouches for us by a JWT: a workload's identity (RFC 7523 § 2.1). */
export interface JwtBearer {
  type: "jwt_bearer";
  /** The JWT, or what gives one for this audience. It is not sent to an authorization server that is not its audience. */
  assertion: string | ((context: AssertionContext) => string | Promise<string>);
}

/** The company's identity provider lets its users in (the extension enterprise-managed-authorization). */
export interface EnterpriseManaged {
  type: "enterprise_managed";
  /** The company's identity provider. */
  idp: { tokenEndpoint: string; clientId?: string; clientSecret?: string };
  /** The user's ID token (or SAML assertion), or what gives it. */
  idToken: string | (() => string | Promise<string>);
  /** What `idToken` is. Default `urn:ietf:params:oauth:token-type:id_token`. */
  idTokenType?: string;
}

/** Whom an assertion is for. */
export interface AssertionContext {
  /** The authorization server: the audience. */
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly resource: string;
  readonly scope: string | undefined;
}

/** A private key: PKCS #8 (PEM), or a JWK. */
export interface SigningKey {
  key: string | JWK;
  /** Default: what the key is made for. */
  alg?: string;
  kid?: string;
}

/** Brings a user to an authorization server, and back. */
export interface Browser {
  /**
   * Gets ready to be sent back to.
   *
   * @param preferred where the client is registered to be sent back to, if it is
   */
  prepare(preferred: string | undefined): Promise<Visit>;
}

/** One user's visit to an authorization server. */
export interface Visit {
  /** Where the authorization server sends the browser back to. */
  readonly redirectUri: string;
  /** Sends the user there; resolves with the URL that the browser came back to. */
  go(url: string, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

type Optional =
  | "store"
  | "onAuthorize"
  | "browser"
  | "grant"
  | "issuer"
  | "clientId"
  | "clientSecret"
  | "privateKey"
  | "clientAuthMethod"
  | "clientMetadataUrl"
  | "scope";

/** Options with every choice made. */
export type OAuthSettings = Required<Omit<OAuthOptions, Optional>> & Pick<OAuthOptions, Optional>;

const DEFAULTS: OAuthSettings = {
  redirectUri: "http://127.0.0.1/callback",
  clientName: "Patchbay",
  privateHosts: [],
  loginTimeout: 300_000,
  requestTimeout: 30_000,
  maxDocumentBytes: 256 * 1024,
  maxStepUps: 10,
};

/**
 * Fills in what was not chosen.
 *
 * @throws TypeError when the choices contradict each other
 */
export function oauthSettings(options: OAuthOptions): OAuthSettings {
  const chosen = Object.entries(options).filter(([, value]) => value !== undefined);
  const settings: OAuthSettings = { ...DEFAULTS, ...Object.fromEntries(chosen) };
  const { clientId, clientSecret, privateKey, clientMetadataUrl, issuer, grant } = settings;
  if (clientSecret !== undefined && (clientId === undefined || issuer === undefined)) {
    throw new TypeError(
      "auth.clientSecret takes a clientId, and the issuer that it is a secret with: a server could name any other",
    );
  }
  if (clientMetadataUrl !== undefined && !/^https:\/\/[^/?#]+\/[^#]+$/.test(clientMetadataUrl))
    throw new TypeError("auth.clientMetadataUrl is an https URL with a path");
  if (
    grant?.type === "client_credentials" &&
    (clientId === undefined || (clientSecret ?? privateKey) === undefined)
  )
    throw new TypeError("The grant client_credentials takes a clientId with a clientSecret or a privateKey");
  const named = [issuer, grant?.type === "enterprise_managed" ? grant.idp.tokenEndpoint : undefined];
  const hosts = named.flatMap((url) =>
    url !== undefined && URL.canParse(url) ? [new URL(url).hostname] : [],
  );
  return { ...settings, privateHosts: [...settings.privateHosts, ...hosts] };
}
