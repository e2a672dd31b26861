/** When a worker that died is started again: later and later while it dies young, and not for ever. */

/** A worker that lived this long has not died young. */
const YOUNG_MS = 60_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 30_000;

export class Restarts {
  readonly #max: number;
  #inARow = 0;

  /** @param max deaths in a row that are made good */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * A worker has died.
   *
   * @param livedMs for how long it was there
   * @returns milliseconds until another is started; nothing when that is over
   */
  after(livedMs: number): number | undefined {
    if (livedMs >= YOUNG_MS) this.#inARow = 0;
    this.#inARow++;
    if (this.#inARow > this.#max) return undefined;
    return Math.min(FIRST_WAIT_MS * 2 ** (this.#inARow - 1), LONGEST_WAIT_MS);
  }
}
