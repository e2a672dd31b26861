/** Tokens that were verified, until they expire: by a hash, so that no token is kept. */

import { digestOf } from "../sealing.ts";
import { Recent } from "../sessions/recent.ts";

/** Characters of a digest. */
const DIGEST_LENGTH = 44;

type Hash = (algorithm: string, text: string, encoding: "base64") => string;

/** Node hashes at once; the web's way takes a promise, which costs as much as all else of a request that is known. */
const nodeHash: Hash | undefined = globalThis.process?.getBuiltinModule?.("node:crypto")?.hash;

/** SHA-256 of a secret, at once where that is possible. */
export function hashOf(secret: string): string | Promise<string> {
  return nodeHash === undefined ? digestOf(secret) : nodeHash("sha256", secret, "base64");
}

/** The same, in base64 as it may stand anywhere. */
export async function plainHashOf(secret: string): Promise<string> {
  return (await hashOf(secret)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export class Remembered<Value> {
  readonly #values: Recent<{ value: Value; until: number }>;

  /** @param max how many are remembered, about; who was not seen for longest is verified again */
  constructor(max: number) {
    // Of its two generations one is full.
    this.#values = new Recent(2 * max * DIGEST_LENGTH);
  }

  get(hash: string): Value | undefined {
    const kept = this.#values.get(hash);
    if (kept === undefined) return undefined;
    if (Date.now() < kept.until) return kept.value;
    this.#values.delete(hash);
    return undefined;
  }

  /** @param until milliseconds since 1970 */
  set(hash: string, value: Value, until: number): void {
    this.#values.set(hash, { value, until });
  }
}
