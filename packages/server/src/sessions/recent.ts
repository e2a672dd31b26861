/** What was asked for lately, up to a bound. */

/** A cache of two generations: what is not asked for while one of them fills is forgotten. A look-up moves nothing. */
export class Recent<Value> {
  readonly #maxLength: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  #youngLength = 0;

  /** @param maxLength characters of all keys */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: Value): void {
    if (!this.#young.has(key)) this.#youngLength += key.length;
    this.#young.set(key, value);
    this.#old.delete(key);
    if (this.#youngLength <= this.#maxLength / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngLength = 0;
  }

  delete(key: string): void {
    if (this.#young.delete(key)) this.#youngLength -= key.length;
    this.#old.delete(key);
  }
}
