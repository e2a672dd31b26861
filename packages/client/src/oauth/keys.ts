/** Keys: one that shows who a client is, and one that a DPoP token is bound to (RFC 7523, RFC 9449). */

import { createHash, createPrivateKey, randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair, importJWK, importPKCS8, type JWK, SignJWT } from "jose";
import type { CryptoKeyPair, DPoPHandle, PrivateKey } from "oauth4webapi";
import { DPoP } from "oauth4webapi";
import type { SigningKey } from "./options.ts";

/** @throws TypeError when it is no private key that can sign; it is not shown */
export async function signingKey({ key, alg, kid }: SigningKey): Promise<PrivateKey> {
  try {
    const named = kid === undefined ? {} : { kid };
    if (typeof key === "string") return { key: await importPKCS8(key, alg ?? algorithmOf(key)), ...named };
    const imported = await importJWK(key, alg ?? key.alg ?? "ES256");
    if (imported instanceof Uint8Array) throw new Error("it is symmetric");
    return { key: imported, ...(key.kid !== undefined && { kid: key.kid }), ...named };
  } catch {
    throw new TypeError("privateKey.key is no private key in PKCS #8 (PEM), nor as a JWK, for its alg");
  }
}

const CURVES: Record<string, string> = { prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" };

function algorithmOf(pem: string): string {
  const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
  if (asymmetricKeyType === "ec") return CURVES[asymmetricKeyDetails?.namedCurve ?? ""] ?? "ES256";
  return asymmetricKeyType === "ed25519" ? "EdDSA" : "RS256";
}

/** A key that tokens are bound to: its proofs show that who sends a token is who got it. */
export class BoundKey {
  /** For the token endpoint; it knows the nonces of its server. */
  readonly handle: DPoPHandle;
  /** The private key, to be kept. */
  readonly jwk: JWK;
  readonly #pair: CryptoKeyPair;
  readonly #publicJwk: JWK;
  /** What the server wants to see in the next proof. */
  nonce: string | undefined;

  private constructor(pair: CryptoKeyPair, jwk: JWK, publicJwk: JWK) {
    this.#pair = pair;
    this.jwk = jwk;
    this.#publicJwk = publicJwk;
    this.handle = DPoP({}, pair);
  }

  /** @param kept a key of before; without one a new one is made */
  static async create(kept?: JWK): Promise<BoundKey> {
    const jwk = kept ?? (await exportJWK((await generateKeyPair("ES256", { extractable: true })).privateKey));
    const { d: _secret, ...publicJwk } = jwk;
    const [privateKey, publicKey] = await Promise.all([
      importJWK(jwk, "ES256", { extractable: false }),
      importJWK(publicJwk, "ES256", { extractable: true }),
    ]);
    if (privateKey instanceof Uint8Array || publicKey instanceof Uint8Array)
      throw new Error("not a key pair");
    return new BoundKey({ privateKey, publicKey }, jwk, publicJwk);
  }

  /** A proof for one request with a token (RFC 9449 § 4.2). */
  proof(method: string, url: string, accessToken: string): Promise<string> {
    const { origin, pathname } = new URL(url);
    const ath = createHash("sha256").update(accessToken).digest("base64url");
    const nonce = this.nonce === undefined ? {} : { nonce: this.nonce };
    return new SignJWT({ htm: method, htu: origin + pathname, ath, ...nonce })
      .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk: this.#publicJwk })
      .setIssuedAt()
      .setJti(randomUUID())
      .sign(this.#pair.privateKey);
  }
}
