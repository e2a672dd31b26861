/** Listeners by what they listen to; nothing is held of what nobody listens to. */

export class Listeners<Told extends unknown[]> {
  readonly #listening = new Map<string, Set<(...told: Told) => void>>();

  /** @returns ends it */
  add(about: string, listener: (...told: Told) => void): () => void {
    // A function of our own, so that the same listener may listen twice.
    const own = (...told: Told) => listener(...told);
    const listeners = this.#listening.get(about) ?? new Set();
    this.#listening.set(about, listeners.add(own));
    return () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#listening.get(about) === listeners) this.#listening.delete(about);
    };
  }

  /** Tells those who listen; false when nobody does. */
  tell(about: string, ...told: Told): boolean {
    const listeners = this.#listening.get(about);
    if (listeners === undefined) return false;
    for (const listener of [...listeners]) listener(...told);
    return true;
  }
}
