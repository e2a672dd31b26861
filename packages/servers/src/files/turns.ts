/** One after another: two changes of the same file, of which neither may be lost. */

export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does something when all is done that was asked for this key before. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const mine = before === undefined ? work() : before.then(work, work);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
