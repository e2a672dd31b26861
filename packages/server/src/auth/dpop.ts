/** Tokens that are bound to a key, and the proof of it that each request brings (DPoP, RFC 9449). */

import { type JsonObject, limitError } from "@patchbay/core";
import type { UsedStates } from "../modern/used-states.ts";
import type { Sealer } from "../sealing.ts";
import type { HttpExchange } from "../transports/http/exchange.ts";
import { plainHashOf } from "./remembered.ts";
import { Shares } from "./shares.ts";
import { RefusedTokenError } from "./verifier.ts";

export interface DpopOptions {
  /** Takes no token that is not bound to a key. Default false: who has one that is shows a proof, all others need none. */
  required?: boolean;
  /**
   * What stands before our paths where clients send requests to, such as `https://mcp.example.com/tools` where a
   * balancer takes `/tools` off. Default: the origin of `resource`.
   */
  publicUrl?: string;
  /** Signatures of proofs that count. Default: ES256, ES384, ES512, EdDSA, Ed25519, PS256 and RS256. */
  algorithms?: readonly string[];
  /** Milliseconds by which the time of a proof may differ from ours; so long a proof is remembered. Default 60 s. */
  maxProofAge?: number;
  /** Wants a nonce of ours in each proof, so that none can be made beforehand. Default false. */
  nonces?: boolean;
  /** Proofs that are remembered, so that none counts twice; one more is a 503. Default 200,000. */
  maxProofs?: number;
  /** Those of one principal. Default 50,000. */
  maxProofsPerPrincipal?: number;
}

/** A proof is missing or wrong, or wants a nonce: what its sender is told beside the text. */
export class RefusedProofError extends RefusedTokenError {
  readonly code: "invalid_dpop_proof" | "use_dpop_nonce";

  constructor(why: string, code: RefusedProofError["code"] = "invalid_dpop_proof", options?: ErrorOptions) {
    super(why, options);
    this.code = code;
  }
}

/** What a token is bound to. */
export interface Binding {
  /** The thumbprint of the key (RFC 7638). */
  readonly jkt: string;
  /** The hash of the token, as proofs have it. */
  readonly ath: string;
}

/** What the checker needs of the server that it stands before. */
export interface ProofPlace {
  readonly sealer: Sealer;
  /** Where the server's instances mark what was used, if they share such a place. */
  readonly sharedUsedStates: UsedStates | undefined;
}

export const DPOP_ALGORITHMS = ["ES256", "ES384", "ES512", "EdDSA", "Ed25519", "PS256", "RS256"];
const REQUIRED_CLAIMS = ["jti", "htm", "htu", "iat", "ath"];
/** Milliseconds for which a nonce is given out; it counts for twice that. */
const NONCE_LIFE = 60_000;

/**
 * The key that a token is bound to; nothing where it is bound to none.
 *
 * @throws RefusedTokenError where it is bound in a way that cannot be checked here
 */
export function thumbprintOf({ cnf }: JsonObject): string | undefined {
  if (cnf === undefined) return undefined;
  const jkt = typeof cnf === "object" && cnf !== null && !Array.isArray(cnf) ? cnf.jkt : undefined;
  if (typeof jkt === "string" && /^[\w-]{43}$/.test(jkt) && Object.keys(cnf as object).length === 1)
    return jkt;
  throw new RefusedTokenError("it is bound to something that this server cannot check (cnf)");
}

/** Checks the proofs of requests. */
export class ProofChecker {
  readonly algorithms: readonly string[];
  readonly #publicUrl: string;
  readonly #maxAge: number;
  readonly #nonces: boolean;
  readonly #place: ProofPlace;
  readonly #seen: SeenProofs;
  #nonce: { text: Promise<string>; until: number } | undefined;

  /** @throws Error for options that would let in anything else */
  constructor(place: ProofPlace, publicUrl: string, options: DpopOptions) {
    const { algorithms = DPOP_ALGORITHMS, maxProofAge = 60_000, nonces = false } = options;
    const weak = algorithms.find((each) => /^(none|HS\d+)$/i.test(each));
    if (weak !== undefined || algorithms.length === 0)
      throw new Error(`auth.dpop.algorithms: ${weak ?? "none"} is no signature that others cannot make`);
    if (!(Number.isInteger(maxProofAge) && maxProofAge >= 1000))
      throw new Error(
        `auth.dpop.maxProofAge is a whole number of milliseconds from 1000, not ${maxProofAge}`,
      );
    if (!/^https?:\/\//.test(publicUrl) || !URL.canParse(publicUrl))
      throw new Error(`auth.dpop.publicUrl: "${publicUrl}" is not a URL such as https://mcp.example.com`);
    const { origin, pathname } = new URL(publicUrl);
    this.algorithms = algorithms;
    this.#publicUrl = origin + pathname.replace(/\/$/, "");
    this.#maxAge = maxProofAge;
    this.#nonces = nonces;
    this.#place = place;
    this.#seen = new SeenProofs(options);
  }

  /**
   * Checks that who sends a request has the key that its token is bound to (§ 4.3).
   *
   * @param principal whose token it is
   * @throws RefusedProofError
   */
  async check(http: HttpExchange, { jkt, ath }: Binding, principal: string): Promise<void> {
    const proof = http.header("dpop");
    if (proof === undefined)
      throw new RefusedProofError("the token is bound to a key, and the DPoP header is missing");
    const { payload, thumbprint } = await this.#read(proof);
    const { htm, htu, iat, jti, ath: hash, nonce } = payload;
    if (thumbprint !== jkt) throw new RefusedProofError("its key is not the one that the token is bound to");
    if (hash !== ath) throw new RefusedProofError("its ath is not the hash of the token");
    if (htm !== http.method) throw new RefusedProofError(`its htm is not ${http.method}`);
    if (!isSamePlace(htu, this.#publicUrl + http.path))
      throw new RefusedProofError(`its htu is not ${this.#publicUrl}${http.path}`);
    if (this.#nonces) await this.#checkNonce(nonce, http);
    const made = (iat as number) * 1000;
    if (Math.abs(Date.now() - made) > this.#maxAge)
      throw new RefusedProofError(`its iat is more than ${this.#maxAge / 1000} seconds from now`);
    if (typeof jti !== "string" || jti === "") throw new RefusedProofError("it has no jti");
    const id = await plainHashOf(`${jkt} ${jti}`);
    const until = made + this.#maxAge;
    const shared = this.#place.sharedUsedStates;
    const isNew = await (shared === undefined
      ? this.#seen.use(id, principal, until)
      : shared.use(`dpop ${id}`, until));
    if (!isNew) throw new RefusedProofError("it was used before: each request takes a proof of its own");
  }

  async #read(proof: string): Promise<{ payload: JsonObject; thumbprint: string }> {
    // Who serves without tokens that are bound does not load it.
    const { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, jwtVerify } = await import("jose");
    try {
      // One that shows its private key proves nothing.
      const { jwk } = decodeProtectedHeader(proof);
      if (jwk === undefined || "d" in jwk) throw new Error("its jwk is no public key");
      const { payload } = await jwtVerify(proof, EmbeddedJWK, {
        typ: "dpop+jwt",
        algorithms: [...this.algorithms],
        requiredClaims: REQUIRED_CLAIMS,
      });
      return { payload: payload as JsonObject, thumbprint: await calculateJwkThumbprint(jwk, "sha256") };
    } catch (cause) {
      throw new RefusedProofError("it is not a proof as RFC 9449 has it", "invalid_dpop_proof", { cause });
    }
  }

  async #checkNonce(nonce: unknown, http: HttpExchange): Promise<void> {
    const current = await this.nonce();
    if (nonce === current) return;
    // The one of before counts still; whoever uses it is given the next.
    http.setHeader("dpop-nonce", current);
    const opened = typeof nonce === "string" ? await this.#place.sealer.open(nonce) : undefined;
    const given = opened?.dpopNonce;
    if (typeof given === "number" && Date.now() - given < 2 * NONCE_LIFE) return;
    throw new RefusedProofError("it has no nonce of ours, or an old one", "use_dpop_nonce");
  }

  /** What proofs are to hold from now on. All instances that share secrets open it. */
  nonce(): Promise<string> {
    const now = Date.now();
    if (this.#nonce === undefined || now >= this.#nonce.until)
      this.#nonce = { text: this.#place.sealer.seal({ dpopNonce: now }), until: now + NONCE_LIFE };
    return this.#nonce.text;
  }
}

/** Ways to write one URL are one; its query does not count (§ 4.3). */
function isSamePlace(htu: unknown, expected: string): boolean {
  if (typeof htu !== "string" || !URL.canParse(htu)) return false;
  const [given, own] = [new URL(htu), new URL(expected)];
  return given.origin === own.origin && given.pathname === own.pathname && given.username === "";
}

/** The proofs that were used, until their time is over. */
class SeenProofs {
  readonly #max: number;
  readonly #shares: Shares;
  /** Nearly in the order in which they end. */
  readonly #until = new Map<string, { until: number; giveBack: () => void }>();

  constructor({ maxProofs = 200_000, maxProofsPerPrincipal = 50_000 }: DpopOptions) {
    this.#max = maxProofs;
    this.#shares = new Shares("maxProofsPerPrincipal", "proofs are remembered of you", maxProofsPerPrincipal);
  }

  /** @throws ProtocolError that names the limit: what is remembered cannot be let go before its time */
  use(id: string, principal: string, until: number): boolean {
    const now = Date.now();
    for (const [oldest, kept] of this.#until) {
      if (kept.until > now) break;
      this.#until.delete(oldest);
      kept.giveBack();
    }
    if (this.#until.has(id)) return false;
    if (this.#until.size >= this.#max) {
      const what = `as many DPoP proofs as maxProofs allows (${this.#max}) are remembered; try later`;
      throw limitError("maxProofs", what, this.#max);
    }
    this.#until.set(id, { until, giveBack: this.#shares.take(principal) });
    return true;
  }
}
