/** A bound on what all streams of an endpoint keep together: whoever kept first lets go first. */

/** A stream that keeps events. */
export interface Keeper {
  /** Lets go of all that it keeps; gives how much that was. */
  letGo(): number;
}

export class EventBudget {
  readonly #max: number;
  /** In the order in which they began to keep. */
  readonly #keepers = new Set<Keeper>();
  #used = 0;

  /** @param max characters of all events that are kept */
  constructor(max: number) {
    this.#max = max;
  }

  get used(): number {
    return this.#used;
  }

  /** Something more is kept; when that is too much in all, the oldest stream loses what it keeps. */
  spend(keeper: Keeper, length: number): void {
    this.#keepers.add(keeper);
    this.#used += length;
    for (const oldest of this.#keepers) {
      if (this.#used <= this.#max) return;
      this.#keepers.delete(oldest);
      this.#used -= oldest.letGo();
    }
  }

  /** Something is kept no more. */
  free(length: number): void {
    this.#used -= length;
  }

  /** A stream is forgotten with all that it kept. */
  forget(keeper: Keeper): void {
    if (this.#keepers.delete(keeper)) this.#used -= keeper.letGo();
  }
}
