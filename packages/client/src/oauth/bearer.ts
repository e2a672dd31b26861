/** A token that the application has, or gets by itself (RFC 6750). */

import { AuthorizationError } from "../errors.ts";
import type { Authorization, Outgoing, Refused } from "../transports/authorized.ts";
import { readChallenge } from "./challenge.ts";
import type { TokenSource } from "./options.ts";

/** What a token may be made of (RFC 6750, § 2.1). */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/** @throws TypeError when what is given cannot be a token; it is not shown */
export function bearer(source: TokenSource): Authorization {
  if (typeof source === "string") return { headersFor: given(source), refused };
  if (typeof source === "function") return new FetchedToken(source);
  throw new TypeError("auth takes a bearer token, a function that gives one, or the options of a login");
}

function given(token: string): () => readonly string[] {
  const headers = bearerHeaders(token);
  return () => headers;
}

async function refused(): Promise<boolean> {
  return false;
}

/** @throws TypeError when it cannot be a token */
export function bearerHeaders(token: string): readonly string[] {
  if (typeof token !== "string" || !TOKEN.test(token)) {
    throw new TypeError("A bearer token consists of letters, digits and -._~+/, then any number of =");
  }
  return ["authorization", `Bearer ${token}`];
}

/** The token of a function, for as long as the server takes it. */
class FetchedToken implements Authorization {
  readonly #source: Exclude<TokenSource, string>;
  #headers: readonly string[] | undefined;
  #fetching: Promise<readonly string[]> | undefined;

  constructor(source: Exclude<TokenSource, string>) {
    this.#source = source;
  }

  headersFor(_request: Outgoing): readonly string[] | Promise<readonly string[]> {
    return this.#headers ?? this.#fetch(undefined, undefined);
  }

  async refused({ sent, challenge, times }: Refused): Promise<boolean> {
    if (times > 1) return false;
    if (this.#headers !== sent) return true;
    const { scope } = readChallenge(challenge);
    const headers = await this.#fetch(sent[1]?.slice("Bearer ".length), scope);
    return headers[1] !== sent[1];
  }

  /** One at a time, for all who wait. */
  #fetch(refusedToken: string | undefined, scope: string | undefined): Promise<readonly string[]> {
    this.#fetching ??= this.#call(refusedToken, scope).finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #call(refusedToken: string | undefined, scope: string | undefined): Promise<readonly string[]> {
    try {
      this.#headers = bearerHeaders(await this.#source({ refused: refusedToken, scope }));
      return this.#headers;
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new AuthorizationError("token", `auth gave no token: ${why}`, { cause });
    }
  }
}
