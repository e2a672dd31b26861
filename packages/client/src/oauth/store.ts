/** Where credentials are kept: for each issuer who we are there, for each server the tokens that it gave. */

import { Queue } from "../queue.ts";

/** Who we are to one authorization server, and to no other. */
export interface Registration {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  /** When the secret ends, in milliseconds since 1970; not at all without it. */
  readonly clientSecretExpiresAt?: number;
  /** How the token endpoint is shown who we are. */
  readonly authMethod?: string;
  /** Where this client may be sent back to. */
  readonly redirectUri?: string;
}

/** What an authorization server gave for one server. */
export interface Grant {
  /** The URL of the server that it is sent to. */
  readonly server: string;
  readonly issuer: string;
  /** The resource that it is for, as the server says it. */
  readonly resource: string;
  /** Who we are there; with what shows it, where it came by registering or a login beforehand. */
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly authMethod?: string;
  readonly accessToken: string;
  readonly tokenType: "bearer" | "dpop";
  /** When the token was given, in milliseconds since 1970. */
  readonly givenAt: number;
  /** When the token ends; unknown without it. */
  readonly expiresAt?: number;
  readonly refreshToken?: string;
  /** The scopes that were given, separated by spaces; those asked for, where the server did not say others. */
  readonly scope?: string;
  /** The scopes that were asked for. */
  readonly requestedScope?: string;
  /** The private key that a DPoP token is bound to, as a JWK. */
  readonly key?: Readonly<Record<string, unknown>>;
  /** Who the user is, where the authorization server says it. */
  readonly user?: string;
}

/** What is kept: a registration by its issuer, a grant by its server's URL. */
export interface Kept {
  registration: Registration;
  grant: Grant;
}

/**
 * Keeps credentials. One store belongs to one user: whoever serves several has one for each.
 *
 * @see fileStore, memoryStore
 */
export interface CredentialStore {
  get<Kind extends keyof Kept>(kind: Kind, key: string): Promise<Kept[Kind] | undefined>;
  /** Keeps a value; without one, forgets what is kept. */
  set<Kind extends keyof Kept>(kind: Kind, key: string, value: Kept[Kind] | undefined): Promise<void>;
  /** All that is kept of a kind. */
  list<Kind extends keyof Kept>(kind: Kind): Promise<Kept[Kind][]>;
  /** Does work while nobody else who uses the store does any under the same name; an abort ends the waiting. */
  alone<T>(name: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>;
}

/** Keeps credentials for as long as this process runs. */
export function memoryStore(): CredentialStore {
  const kept: { [Kind in keyof Kept]: Map<string, Kept[Kind]> } = {
    registration: new Map(),
    grant: new Map(),
  };
  const queue = new Queue();
  return {
    get: async (kind, key) => kept[kind].get(key),
    set: async (kind, key, value) => {
      if (value === undefined) kept[kind].delete(key);
      else kept[kind].set(key, value);
    },
    list: async (kind) => [...kept[kind].values()],
    alone: (name, signal, work) => queue.run(name, signal, work),
  };
}
