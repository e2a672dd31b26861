/** Gets tokens for one server: what is kept, by refreshing that, or by a login or another grant. */

import { AuthorizationError, readable } from "../errors.ts";
import type { Challenge } from "./challenge.ts";
import { fixedIdentity, type Identity, identityOf, NOBODY, type Registering } from "./client-identity.ts";
import { canonical, type Discovery, discover } from "./discovery.ts";
import { step } from "./failures.ts";
import { byMachine } from "./grants.ts";
import { BoundKey } from "./keys.ts";
import { logIn } from "./login.ts";
import { type OAuthOptions, type OAuthSettings, oauthSettings } from "./options.ts";
import { Reach } from "./reach.ts";
import { scopesIn, union } from "./scopes.ts";
import { type CredentialStore, type Grant, memoryStore } from "./store.ts";
import { type Asking, byRefresh } from "./tokens.ts";

/** A refresh token that is answered so is worth nothing any more. */
const SPENT = new Set(["invalid_grant", "invalid_client", "unauthorized_client"]);

/** A token, how it was got, and what it is bound to. */
export interface Obtained {
  readonly grant: Grant;
  readonly by: "store" | "refresh" | "authorization";
  readonly key: BoundKey | undefined;
}

/** Why another token is wanted. */
export interface Need {
  /** The one that will not do. */
  readonly before: Grant | undefined;
  /** What the server said; nothing when a token is only about to end. */
  readonly challenge: Challenge | undefined;
  /** It allows too little: a fresh one would allow no more. */
  readonly stepUp: boolean;
  /** It came by refreshing, and was never taken: another such would not be. */
  readonly wasRefreshed: boolean;
  /** Gives up. */
  readonly signal: AbortSignal;
  /** A user is being asked, until what it returns is called. */
  readonly hold: () => () => void;
}

export class Obtaining {
  /** The server, as what is kept for it is found. */
  readonly server: string;
  /** The server, as errors name it: its query may be a secret. */
  readonly name: string;
  readonly settings: OAuthSettings;
  readonly store: CredentialStore;
  readonly reach: Reach;
  readonly #url: URL;

  /** @throws TypeError when the options contradict each other */
  constructor(url: URL, options: OAuthOptions) {
    this.#url = url;
    this.name = canonical(url);
    this.server = this.name + url.search;
    this.settings = oauthSettings(options);
    this.store = options.store ?? memoryStore();
    this.reach = new Reach(url, this.settings);
  }

  /** What is kept for this server, if it was given to who we are. */
  async kept(): Promise<Obtained | undefined> {
    const { clientId, issuer } = this.settings;
    const grant = await this.store.get("grant", this.server);
    if (grant === undefined || grant.server !== this.server) return undefined;
    if (clientId !== undefined && grant.clientId !== clientId) return undefined;
    if (issuer !== undefined && grant.issuer !== issuer) return undefined;
    return { grant, by: "store", key: await boundKey(grant) };
  }

  /** Gets another token than the one before, in the way that costs least; nobody else does so meanwhile. */
  replace(need: Need): Promise<Obtained | undefined> {
    return this.store.alone(this.server, need.signal, () => this.#replace(need));
  }

  /** Has a user log in, whatever there is already. */
  logIn(challenge: Challenge | undefined, signal: AbortSignal): Promise<Obtained> {
    const need = {
      before: undefined,
      challenge,
      stepUp: false,
      wasRefreshed: false,
      signal,
      hold: () => () => {},
    };
    return this.store.alone(this.server, signal, async () => {
      const discovery = await this.discover(challenge, undefined, signal);
      if (discovery.assumed && challenge === undefined)
        throw new AuthorizationError(
          "discovery",
          `${this.name} wants no login, and does not say who could give one`,
        );
      // Nobody would come back from an authorization server that has forgotten us.
      await this.store.set("registration", discovery.authorizationServer.issuer, undefined);
      const scopes = this.#firstScopes(discovery, challenge);
      const obtained = await this.#authorize(discovery, scopes, need).catch((cause: unknown) => {
        if (!discovery.assumed || (cause as { step?: string }).step !== "registration") throw cause;
        throw new AuthorizationError(
          "discovery",
          `${this.name} does not say who gives tokens for it, and nobody registers at its origin: ask who runs it ` +
            "for a token or a key, and send that in the Authorization header",
          { cause },
        );
      });
      return { ...obtained, grant: await this.#remember(obtained.grant) };
    });
  }

  /** Finds out who authorizes for the server. */
  discover(
    challenge: Challenge | undefined,
    grant: Grant | undefined,
    signal: AbortSignal,
  ): Promise<Discovery> {
    const known = { issuer: this.settings.issuer, before: grant?.issuer };
    return step("discovery", this.name, signal, () =>
      discover(this.#url, challenge, this.reach, known, signal),
    );
  }

  /** Asks for something at the authorization server that gave this grant, as who we were then. */
  async asking(discovery: Discovery, grant: Grant, signal: AbortSignal): Promise<Asking> {
    const { authorizationServer } = discovery;
    const fixed = await fixedIdentity(this.#registering(discovery, signal));
    const identity =
      fixed?.client.client_id === grant.clientId ? fixed : await identityOf(authorizationServer, grant);
    return this.#asking(discovery, identity, grant.scope, await boundKey(grant));
  }

  async #replace(need: Need): Promise<Obtained | undefined> {
    const { before, challenge, signal, stepUp, wasRefreshed } = need;
    const kept = await this.kept();
    // Another process may have been faster.
    if (kept !== undefined && kept.grant.accessToken !== before?.accessToken && !isOver(kept.grant))
      return kept;
    // Who has logged out meanwhile is not logged in again by what is still at hand.
    const grant = kept?.grant;
    const discovery = await this.discover(challenge, grant, signal);
    const { authorizationServer, resource } = discovery;
    const same = grant?.issuer === authorizationServer.issuer && grant.resource === resource;
    if (same && !stepUp && !wasRefreshed) {
      const fresh = await this.#refresh(discovery, grant, signal);
      if (fresh !== undefined) return fresh;
    }
    // Nobody is asked before the server says so.
    if (challenge === undefined && this.settings.grant === undefined) return undefined;
    const requested = same ? scopesIn(grant.requestedScope) : [];
    const more = union(requested, scopesIn(challenge?.scope));
    return this.#authorize(
      discovery,
      requested.length > 0 ? more : this.#firstScopes(discovery, challenge),
      need,
    );
  }

  /** The scopes to ask for first (§ Scope Selection Strategy). */
  #firstScopes(discovery: Discovery, challenge: Challenge | undefined): string[] | undefined {
    const { scope, grant } = this.settings;
    const named = scope ?? challenge?.scope;
    const scopes = named === undefined ? discovery.scopes : scopesIn(named);
    if (scopes === undefined || scopes.length === 0) return undefined;
    const offline = discovery.authorizationServer.scopes_supported?.includes("offline_access") === true;
    return offline && grant === undefined ? union(scopes, ["offline_access"]) : [...scopes];
  }

  /** @returns nothing when there is nothing to refresh by */
  async #refresh(discovery: Discovery, grant: Grant, signal: AbortSignal): Promise<Obtained | undefined> {
    const { refreshToken } = grant;
    if (refreshToken === undefined) return undefined;
    const asking = await this.asking(discovery, grant, signal);
    try {
      const fresh = await step("token", grant.issuer, undefined, () =>
        byRefresh(asking, { ...grant, refreshToken }),
      );
      return await this.#keep(fresh, "refresh", asking.key);
    } catch (error) {
      if (!(error instanceof AuthorizationError) || !SPENT.has(error.code ?? "")) throw error;
      const { refreshToken: _spent, ...rest } = grant;
      await this.store.set("grant", this.server, rest);
      // An authorization server that does not know us any more will have us register again.
      if (error.code === "invalid_client") await this.store.set("registration", grant.issuer, undefined);
      return undefined;
    }
  }

  /** Has a user, or what stands for one, allow it. */
  async #authorize(discovery: Discovery, scopes: string[] | undefined, need: Need): Promise<Obtained> {
    const { grant, onAuthorize, browser } = this.settings;
    const { authorizationServer, resource, legacy } = discovery;
    const { signal, hold } = need;
    const registering = this.#registering(discovery, signal);
    const scope = scopes?.join(" ");
    // Who had a token that nobody else could use does not get a lesser one.
    const bound = discovery.dpop || need.before?.tokenType === "dpop";
    const key = bound ? await BoundKey.create() : undefined;
    if (grant !== undefined) {
      const identity = (await fixedIdentity(registering)) ?? NOBODY;
      const asking = this.#asking(discovery, identity, scope, key);
      return this.#keep(await byMachine(asking, grant), "authorization", key);
    }
    if (onAuthorize === undefined && browser === undefined) {
      const needs = scope === undefined ? "" : ` (${readable(scope)})`;
      const what = `${this.name} wants a login at ${readable(authorizationServer.issuer, 200)}${needs}`;
      const status = need.stepUp ? 403 : 401;
      throw new AuthorizationError("login", `${what}, and nobody can be asked: log in first`, {
        status,
        scope,
      });
    }
    const login = { ...registering, url: this.server, resource, scope, key, legacy, hold };
    const given = await step("login", authorizationServer.issuer, signal, () => logIn(login));
    return this.#keep(given, "authorization", key);
  }

  async #keep(grant: Grant, by: Obtained["by"], key: BoundKey | undefined): Promise<Obtained> {
    await this.store.set("grant", this.server, grant);
    return { grant, by, key: grant.tokenType === "dpop" ? key : undefined };
  }

  /** Who was registered beforehand is known again by whoever uses what is kept. */
  async #remember(grant: Grant): Promise<Grant> {
    const { clientSecret, clientAuthMethod, clientId } = this.settings;
    if (grant.clientId !== clientId || clientSecret === undefined) return grant;
    const authMethod = clientAuthMethod === undefined ? {} : { authMethod: clientAuthMethod };
    const remembered = { ...grant, clientSecret, ...authMethod };
    await this.store.set("grant", this.server, remembered);
    return remembered;
  }

  #registering({ authorizationServer: server }: Discovery, signal: AbortSignal): Registering {
    return { server, reach: this.reach, store: this.store, options: this.settings, signal };
  }

  #asking(
    { authorizationServer, resource }: Discovery,
    identity: Identity,
    scope: string | undefined,
    key: BoundKey | undefined,
  ): Asking {
    return {
      authorizationServer,
      ...identity,
      reach: this.reach,
      server: this.server,
      resource,
      scope,
      key,
    };
  }
}

async function boundKey({ tokenType, key }: Grant): Promise<BoundKey | undefined> {
  return tokenType === "dpop" ? BoundKey.create(key) : undefined;
}

function isOver({ expiresAt }: Grant): boolean {
  return expiresAt !== undefined && Date.now() >= expiresAt;
}
