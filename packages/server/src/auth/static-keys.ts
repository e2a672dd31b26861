/** Keys of your own, for who has no authorization server: kept as hashes, compared in constant time. */

import { plainHashOf } from "./remembered.ts";
import { RefusedTokenError, type TokenVerifier } from "./verifier.ts";

export interface StaticKey {
  /** What `hashKey` gave for the key. */
  hash: string;
  /** Whose key it is. Several keys may be one's: an old and a new one. */
  subject: string;
  scopes?: readonly string[];
  /** When it ends. Default: never. */
  expires?: Date;
}

/** The issuer of all such keys. */
const ISSUER = "urn:patchbay:static-keys";
const PREFIX = "sha256:";
const MIN_LENGTH = 32;

/**
 * What is kept of a key: its SHA-256. That is enough for a key which nobody could guess, and for no other.
 *
 * @param key at least 32 characters, such as `openssl rand -hex 32` gives
 * @throws Error for a shorter one
 */
export async function hashKey(key: string): Promise<string> {
  if (key.length < MIN_LENGTH)
    throw new Error(`A key has at least ${MIN_LENGTH} characters, such as \`openssl rand -hex 32\` gives`);
  return PREFIX + (await plainHashOf(key));
}

/**
 * Takes the keys that were given out. There is nobody to log in at, so there is no metadata either.
 *
 * @throws Error for a hash that `hashKey` did not give
 */
export function staticKeys(keys: readonly StaticKey[]): TokenVerifier {
  for (const { hash, subject } of keys) {
    if (!/^sha256:[\w-]{43}$/.test(hash))
      throw new Error(`The key of "${subject}" is not as hashKey() gives it`);
  }
  return {
    // It costs no more than to remember it would.
    rememberMs: 0,
    async verify(token) {
      const hash = PREFIX + (await plainHashOf(token));
      let found: StaticKey | undefined;
      // All of them, whichever it is: how long it takes says nothing.
      for (const key of keys) if (equal(key.hash, hash)) found = key;
      if (found === undefined) throw new RefusedTokenError("it is not known");
      const { subject, scopes = [], expires } = found;
      return { issuer: ISSUER, subject, scopes, expiresAt: expires?.getTime(), claims: { sub: subject } };
    },
  };
}

/** Of texts of one length, in a time that does not depend on where they differ. */
function equal(one: string, other: string): boolean {
  let differences = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) differences |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return differences === 0;
}
