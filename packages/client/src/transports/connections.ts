/** Connections to one origin, used again as soon as they can be. */

import { type Dispatcher, Pool } from "undici";

/** What reads a response. */
export interface Reader extends Dispatcher.DispatchHandler {
  /** Nothing is to be sent any more. */
  readonly isOver: boolean;
}

/**
 * A pool that does not open a connection where one is about to be free. undici keeps each back for a turn of the event
 * loop after an answer; a call that is made at once then would open another, and in the end there were twice as many.
 */
export class Connections {
  readonly #pool: Pool;
  /** Connections that are free in the next turn. */
  #resting = 0;
  /** Requests that wait for one of them; never more than there are. */
  readonly #waiting: { options: Dispatcher.DispatchOptions; reader: Reader }[] = [];

  constructor(origin: string, options: Pool.Options) {
    this.#pool = new Pool(origin, options);
  }

  dispatch(options: Dispatcher.DispatchOptions, reader: Reader): void {
    if (this.#waiting.length < this.#resting) this.#waiting.push({ options, reader });
    else this.#pool.dispatch(options, reader);
  }

  /** To be called while a response ends. */
  readonly rest = (): void => {
    this.#resting++;
    queueMicrotask(this.#afterUndici);
  };

  /** For what needs no speed. */
  request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
    return this.#pool.request(options);
  }

  destroy(): Promise<void> {
    return this.#pool.destroy();
  }

  /** By now undici has said what it will do in the next turn: what is said here comes right after it. */
  readonly #afterUndici = (): void => {
    setImmediate(this.#free);
  };

  readonly #free = (): void => {
    this.#resting--;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (next.reader.isOver) continue;
      this.#pool.dispatch(next.options, next.reader);
      return;
    }
  };
}
