/** What one principal may have of something that all share: who takes too much leaves the rest to others. */

import { type LimitName, limitError } from "@patchbay/core";

export class Shares {
  readonly #name: LimitName;
  readonly #what: string;
  readonly #max: number;
  readonly #taken = new Map<string, number>();

  /**
   * @param name of the option, for the error about it
   * @param what there may be too many of, and of whom: `requests of yours are in flight`
   */
  constructor(name: LimitName, what: string, max: number) {
    this.#name = name;
    this.#what = what;
    this.#max = max;
  }

  /**
   * Looks whether there is room for one more.
   *
   * @param principal nothing where nobody is known: then there is
   * @throws ProtocolError that names the limit
   */
  check(principal: string | undefined): void {
    if (principal === undefined || (this.#taken.get(principal) ?? 0) < this.#max) return;
    const what = `as many ${this.#what} as ${this.#name} allows (${this.#max}); try later`;
    throw limitError(this.#name, what, this.#max);
  }

  /**
   * Takes one.
   *
   * @returns gives it back; again, it does nothing
   * @throws ProtocolError that names the limit
   */
  take(principal: string | undefined): () => void {
    this.check(principal);
    if (principal === undefined) return () => {};
    this.#taken.set(principal, (this.#taken.get(principal) ?? 0) + 1);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const left = (this.#taken.get(principal) ?? 1) - 1;
      if (left === 0) this.#taken.delete(principal);
      else this.#taken.set(principal, left);
    };
  }
}
