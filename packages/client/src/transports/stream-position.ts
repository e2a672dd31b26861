/** How far a legacy stream of events has come, and when to come back for the rest (2025-11-25, § Resumability). */

import type { EventSourceMessage } from "eventsource-parser";
import { backoff } from "../pause.ts";
import { isHeaderValue } from "./http-headers.ts";

const FIRST_PAUSE = 500;
const MAX_PAUSE = 60_000;
/** A server that wants us back sooner is asked after this long all the same. */
const MIN_RETRY = 100;
/** The longest that a stream which brings ids and no messages is left alone, unless the server wants it longer. */
const MAX_POLL = 5_000;
/** A server that wants to be left alone for longer is asked after this long all the same. */
const MAX_RETRY = 60 * 60_000;
/** Ids that are remembered to tell a repeated event by. */
const MAX_SEEN = 1_000;
const MAX_ID_LENGTH = 4_096;

export class StreamPosition {
  /** Tries in a row that brought nothing. */
  failures = 0;
  /** Streams in a row that brought ids and no message. */
  polls = 0;
  #lastEventId: string | undefined;
  #retry: number | undefined;
  /** Milliseconds that the next pause is longer by. */
  #busy = 0;
  readonly #seen = new Set<string>();

  /** Where to go on; nothing when the stream has no ids. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  /** Notes an event; false when it was there before. */
  take(event: EventSourceMessage): boolean {
    const isNew = this.#note(event.id);
    if (isNew && event.data !== "") {
      this.failures = 0;
      this.polls = 0;
    }
    return isNew;
  }

  /** The server says when to come back. */
  retryAfter(ms: number): void {
    this.#retry = Math.max(MIN_RETRY, Math.min(ms, MAX_RETRY));
  }

  /** The server is busy for so many milliseconds from now. */
  notBefore(ms: number): void {
    this.#busy = Math.min(ms, MAX_RETRY);
  }

  /** The server does not know where we were: the stream starts anew. */
  forget(): void {
    this.#lastEventId = undefined;
  }

  /** Milliseconds until the next try: what the server said, and longer each time that it brings nothing. */
  pause(): number {
    const { failures, polls } = this;
    const busy = this.#busy;
    this.#busy = 0;
    if (this.#retry === undefined)
      return busy + backoff(failures + Math.min(polls, 3), FIRST_PAUSE, MAX_PAUSE);
    const poll = Math.max(this.#retry, Math.min(this.#retry * 2 ** polls, MAX_POLL));
    return busy + poll + (failures === 0 ? 0 : backoff(failures - 1, FIRST_PAUSE, MAX_PAUSE));
  }

  /** Remembers where an event was; false when it was there before. */
  #note(id: string | undefined): boolean {
    if (id === undefined || id.length > MAX_ID_LENGTH || !isHeaderValue(id)) return true;
    this.#lastEventId = id === "" ? undefined : id;
    if (this.#seen.has(id)) return false;
    this.#seen.add(id);
    if (this.#seen.size > MAX_SEEN) this.#seen.delete(this.#seen.values().next().value as string);
    return true;
  }
}
