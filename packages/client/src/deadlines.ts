/** One timer for the time limits of all requests of a connection: one for each would cost more than all else of a call. */

import { MAX_DELAY } from "./options.ts";

export class Deadlines {
  readonly #look: (now: number) => number;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer is over, on the clock of `performance.now()`. */
  #at = Number.POSITIVE_INFINITY;
  #isIdle = true;

  /** @param look ends what is over by now, and gives the moment when the next will be */
  constructor(look: (now: number) => number) {
    this.#look = look;
  }

  /** Something is over at this moment, unless it is done before. */
  add(at: number): void {
    if (at < this.#at) this.#set(at);
    else if (this.#isIdle) this.#timer?.ref();
    this.#isIdle = false;
  }

  /** There is nothing to look at: the timer, if it runs, does not keep the process alive. */
  rest(): void {
    this.#isIdle = true;
    this.#timer?.unref();
  }

  #set(at: number): void {
    clearTimeout(this.#timer);
    this.#at = at;
    const ms = Math.min(at - performance.now(), MAX_DELAY);
    this.#timer = setTimeout(this.#over, Math.max(ms, 0));
    if (this.#isIdle) this.#timer.unref();
  }

  /** Nothing will be looked at any more. */
  end(): void {
    clearTimeout(this.#timer);
  }

  readonly #over = (): void => {
    this.#timer = undefined;
    this.#at = Number.POSITIVE_INFINITY;
    const next = this.#look(performance.now());
    if (next < this.#at) this.#set(next);
  };
}
