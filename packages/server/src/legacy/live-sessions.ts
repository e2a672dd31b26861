/** The legacy sessions in which something goes on, on this instance; a session at rest is its record alone. */

import type { SessionStore } from "../sessions/store.ts";
import { every } from "../timers.ts";
import { type LiveLimits, LiveSession } from "./live-session.ts";
import type { SessionRecord } from "./session.ts";

/** Milliseconds that a finished stream is kept, for a client that lost its end. */
const KEPT_FOR = 60_000;

export interface LiveSessionsOptions extends LiveLimits {
  /** Milliseconds between two looks at all of them. */
  sweepEvery: number;
  /** Bytes that may wait for a reader, which is dropped beyond. */
  maxBufferedBytes: number;
  /** Takes what the store fails with while nobody asks. */
  report: (error: unknown) => void;
}

export class LiveSessions {
  readonly #store: SessionStore;
  readonly #options: LiveSessionsOptions;
  readonly #live = new Map<string, LiveSession>();
  #stopSweeping: (() => void) | undefined;
  #sweeping = false;

  constructor(store: SessionStore, options: LiveSessionsOptions) {
    this.#store = store;
    this.#options = options;
  }

  get size(): number {
    return this.#live.size;
  }

  get maxBufferedBytes(): number {
    return this.#options.maxBufferedBytes;
  }

  get(id: string): LiveSession | undefined {
    return this.#live.get(id);
  }

  /** What goes on in a session; from now on something does. */
  of(id: string, record: SessionRecord): LiveSession {
    let live = this.#live.get(id);
    if (live === undefined) {
      const made = new LiveSession(record, this.#options, () => {
        if (this.#live.get(id) === made) this.#live.delete(id);
      });
      live = made;
      this.#live.set(id, live);
      this.#stopSweeping ??= every(this.#options.sweepEvery, () => void this.#sweep());
    }
    return live;
  }

  /** A session's record as it is now. */
  refresh(id: string, record: SessionRecord): void {
    this.#live.get(id)?.refresh(record);
  }

  /** A session is over. */
  drop(id: string, reason: string): void {
    const live = this.#live.get(id);
    if (live === undefined) return;
    this.#live.delete(id);
    live.end(reason);
  }

  /** Lets them finish: requests in flight are answered still, all else ends. */
  finish(): void {
    for (const live of [...this.#live.values()]) live.finish();
  }

  /** This instance stops: all that goes on here ends, the sessions may go on elsewhere. */
  leaveAll(reason: string): void {
    for (const live of [...this.#live.values()]) live.leave(reason);
    this.#live.clear();
    this.#rest();
  }

  /** One look at all of them costs less than a timer for each. */
  async #sweep(): Promise<void> {
    if (this.#sweeping) return;
    if (this.#live.size === 0) return this.#rest();
    this.#sweeping = true;
    try {
      const finishedBy = Date.now() - KEPT_FOR;
      for (const [id, live] of [...this.#live]) {
        live.forget(finishedBy);
        // Only a client that is there keeps its session alive.
        const looked = live.connected ? this.#store.get(id) : this.#store.has(id);
        const lives = looked instanceof Promise ? await looked : looked;
        if (lives === undefined || lives === false) this.drop(id, "the session ended");
      }
    } catch (thrown) {
      this.#options.report(thrown);
    } finally {
      this.#sweeping = false;
    }
  }

  /** Not as soon as nothing is live: a session may come and go with each request. */
  #rest(): void {
    this.#stopSweeping?.();
    this.#stopSweeping = undefined;
  }
}
