/** A few places for many who want one: first come, first served, within a bound on those who wait. */

import { type DatabaseLimits, limitExceeded } from "./limits.ts";

type Bounds = Pick<DatabaseLimits, "maxConnections" | "maxWaiting">;

export class Places {
  readonly #bounds: Bounds;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /**
   * Runs something in a place.
   *
   * @throws DatabaseError when too many wait; the signal's reason when it aborts before there is a place
   */
  async within<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#taken < this.#bounds.maxConnections) this.#taken++;
    else await this.#wait(signal);
    try {
      return await run();
    } finally {
      // Who waits gets this very place; so nobody who comes just now overtakes them.
      const [next] = this.#waiting;
      if (next === undefined) this.#taken--;
      else next();
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#bounds.maxWaiting)
      throw limitExceeded("maxWaiting", this.#bounds, "more statements wait", "try again later");
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(enter);
        reject(signal.reason);
      };
      const enter = () => {
        this.#waiting.delete(enter);
        signal.removeEventListener("abort", leave);
        resolve();
      };
      this.#waiting.add(enter);
      signal.addEventListener("abort", leave, { once: true });
    });
  }
}
