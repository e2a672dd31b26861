/** Authorizes the requests to one server by OAuth: keeps its token fresh, and gets another when it is refused. */

import type { IncomingHttpHeaders } from "node:http";
import { AuthorizationError, readable } from "../errors.ts";
import type { Authorization, Outgoing, Refused } from "../transports/authorized.ts";
import { type Challenge, readChallenge } from "./challenge.ts";
import type { BoundKey } from "./keys.ts";
import { type Obtained, Obtaining } from "./obtaining.ts";
import type { OAuthOptions } from "./options.ts";
import { holds, scopesIn, union } from "./scopes.ts";
import type { Grant } from "./store.ts";

/** A token that ends sooner than this, in milliseconds, is replaced before it is used; a short-lived one, later. */
const MARGIN = 60_000;
/** Milliseconds until the next try where a token could not be replaced before its end. */
const PAUSE = 10_000;
/** Nonces that one request may be asked for, one after another. */
const MAX_NONCES = 2;

/** A token as requests carry it. */
interface Current extends Obtained {
  readonly headers: readonly string[];
  /** When to replace it, in milliseconds since 1970. */
  renewAt: number;
  /** The server has taken it. */
  worked: boolean;
}

/** Work on another token, and who waits for it. */
interface Renewal {
  readonly done: Promise<void>;
  readonly abort: AbortController;
  waiting: number;
}

export class Authorizer implements Authorization {
  readonly #obtaining: Obtaining;
  readonly #holds: (() => () => void)[] = [];
  #current: Current | undefined;
  #loaded = false;
  #renewal: Renewal | undefined;
  /** A user is being asked. */
  #asking = false;
  /** Sets of scopes that were asked for after a refusal. */
  readonly #stepUps = new Set<string>();

  /** @throws TypeError when the options contradict each other */
  constructor(url: URL, options: OAuthOptions) {
    this.#obtaining = new Obtaining(url, options);
  }

  headersFor(request: Outgoing): readonly string[] | Promise<readonly string[]> {
    const current = this.#current;
    if (current === undefined) return this.#loaded ? [] : this.#prepared(request);
    if (Date.now() >= current.renewAt) return this.#prepared(request);
    return current.key === undefined ? current.headers : proven(current, current.key, request);
  }

  async refused({ status, challenge: header, sent, times, signal }: Refused): Promise<boolean> {
    const challenge = readChallenge(header);
    const carried = this.#current;
    if (challenge.error === "use_dpop_nonce") return times <= MAX_NONCES && carried?.key?.nonce !== undefined;
    // Another request was refused before, and there is another token by now.
    if (tokenOf(sent) !== carried?.grant.accessToken) return true;
    if (status === 403 && challenge.error !== "insufficient_scope") return false;
    if (this.#renewal === undefined) {
      if (status === 403) this.#checkStepUp(carried, challenge);
      else if (carried?.by === "authorization" && !carried.worked) throw this.#notTaken(carried);
    }
    await this.#renewed(challenge, status === 403, signal);
    return true;
  }

  heard(headers: IncomingHttpHeaders, taken: boolean): void {
    const current = this.#current;
    if (current === undefined) return;
    if (taken) current.worked = true;
    const nonce = headers["dpop-nonce"];
    if (current.key !== undefined && typeof nonce === "string") current.key.nonce = nonce;
  }

  onWait(hold: () => () => void): void {
    this.#holds.push(hold);
  }

  async #prepared(request: Outgoing): Promise<readonly string[]> {
    if (!this.#loaded) await this.#load();
    const before = this.#current;
    if (before !== undefined && Date.now() >= before.renewAt) {
      try {
        await this.#renewed(undefined, false, request.signal);
      } catch (error) {
        if (request.signal.aborted) throw error;
        // It may do for now; the server will say.
        before.renewAt = Date.now() + PAUSE;
      }
    }
    const current = this.#current;
    if (current === undefined) return [];
    return current.key === undefined ? current.headers : proven(current, current.key, request);
  }

  async #load(): Promise<void> {
    const kept = await this.#obtaining.kept();
    if (kept !== undefined && !this.#loaded) this.#use(kept);
    this.#loaded = true;
  }

  #use(obtained: Obtained): void {
    const { grant, key } = obtained;
    const canRenew = grant.refreshToken !== undefined || this.#obtaining.settings.grant !== undefined;
    this.#current = {
      ...obtained,
      headers: ["authorization", `${key === undefined ? "Bearer" : "DPoP"} ${grant.accessToken}`],
      renewAt: canRenew ? renewalOf(grant) : Number.POSITIVE_INFINITY,
      worked: false,
    };
    this.#loaded = true;
  }

  /** Waits with all others for another token; when nobody waits any more it is given up. */
  async #renewed(challenge: Challenge | undefined, stepUp: boolean, signal: AbortSignal): Promise<void> {
    this.#renewal ??= this.#renew(challenge, stepUp);
    const renewal = this.#renewal;
    renewal.waiting++;
    const release = this.#asking ? this.#hold() : undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const onAbort = () => {
          if (--renewal.waiting === 0) renewal.abort.abort(signal.reason);
          reject(signal.reason);
        };
        if (signal.aborted) return onAbort();
        signal.addEventListener("abort", onAbort, { once: true });
        renewal.done.finally(() => signal.removeEventListener("abort", onAbort)).then(resolve, reject);
      });
    } finally {
      release?.();
    }
  }

  #renew(challenge: Challenge | undefined, stepUp: boolean): Renewal {
    const abort = new AbortController();
    const before = this.#current;
    const need = {
      before: before?.grant,
      challenge,
      stepUp,
      wasRefreshed: challenge !== undefined && before?.by === "refresh" && !before.worked,
      signal: abort.signal,
      hold: () => this.#ask(),
    };
    const work = async () => {
      const obtained = await this.#obtaining.replace(need);
      if (obtained !== undefined) this.#use(obtained);
      else if (before !== undefined) before.renewAt = Number.POSITIVE_INFINITY;
    };
    const done = work().finally(() => {
      this.#renewal = undefined;
    });
    // Whoever waits is told of a failure, and there may be nobody any more.
    done.catch(() => {});
    return { done, abort, waiting: 0 };
  }

  /** A user is asked, until what it returns is called: that is not the server's time. */
  #ask(): () => void {
    this.#asking = true;
    const release = this.#hold();
    return () => {
      this.#asking = false;
      release();
    };
  }

  #hold(): () => void {
    const releases = this.#holds.map((hold) => hold());
    return () => {
      for (const release of releases) release();
    };
  }

  /** More is asked for once for each set of scopes, and not for ever. */
  #checkStepUp(current: Current | undefined, { scope }: Challenge): void {
    const { name, settings } = this.#obtaining;
    const { maxStepUps } = settings;
    const missing = scopesIn(scope);
    const needs = `${name} wants more than it was allowed (${readable(scope ?? "it does not say what")})`;
    const fail = (why: string) => new AuthorizationError("access", `${needs}${why}`, { status: 403 });
    if (missing.length === 0) throw fail("");
    const scopes = union(scopesIn(current?.grant.requestedScope), missing);
    const set = [...scopes].sort().join(" ");
    if (this.#stepUps.has(set) || holds(scopesIn(current?.grant.scope), scopes))
      throw fail(", though that was asked for already");
    if (this.#stepUps.size >= maxStepUps) throw fail(`; maxStepUps (${maxStepUps}) is reached`);
    this.#stepUps.add(set);
  }

  #notTaken({ grant }: Current): AuthorizationError {
    const { name } = this.#obtaining;
    const what = `${name} does not take the token that ${readable(grant.issuer, 200)} gave for it`;
    return new AuthorizationError("access", `${what}: one of the two is not set up for the other`, {
      status: 401,
    });
  }
}

/** A little before a token ends. */
function renewalOf({ givenAt, expiresAt }: Grant): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY;
  return expiresAt - Math.min(MARGIN, (expiresAt - givenAt) / 10);
}

async function proven(
  { headers, grant }: Current,
  key: BoundKey,
  { method, url }: Outgoing,
): Promise<readonly string[]> {
  return [...headers, "dpop", await key.proof(method, url, grant.accessToken)];
}

function tokenOf([, value]: readonly string[]): string | undefined {
  return value?.slice(value.indexOf(" ") + 1);
}
