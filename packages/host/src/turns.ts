/** The turns that run now: who hears of what happens, and when the last of them is over. */

import type { HostEvent } from "./events.ts";

type Hearer = (event: HostEvent) => void;

export class Turns {
  readonly #running = new Set<Promise<unknown>>();
  readonly #hearers = new Map<object, Hearer>();
  #over = AbortSignal.abort();
  #end = () => {};

  /** Aborted while no turn runs: nobody asks a person anything then. */
  get over(): AbortSignal {
    return this.#over;
  }

  /** Tells what belongs to no turn in particular. */
  readonly tell = (event: HostEvent): void => {
    for (const hear of this.#hearers.values()) hear(event);
  };

  async run<T>(work: () => Promise<T>, onEvent: Hearer = () => {}): Promise<T> {
    const turn = {};
    if (this.#hearers.size === 0) {
      const controller = new AbortController();
      this.#over = controller.signal;
      this.#end = () => controller.abort(new DOMException("No turn is running any more", "AbortError"));
    }
    this.#hearers.set(turn, onEvent);
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
      this.#hearers.delete(turn);
      if (this.#hearers.size === 0) this.#end();
    }
  }

  /** Resolves when all that run now have ended. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#running);
  }
}
