/** A legacy stream of events that outlives its connection: a client that lost it comes back for the rest. */

import { SSE_KEEP_ALIVE, sseEvent, sseEventWithId, ssePrimer, sseRetry } from "@patchbay/core";

/** A connection that a stream is sent over. */
export interface Sink {
  write(text: string): number;
  end(): void;
  destroy(): void;
  onOver(listener: () => void): void;
}

export interface EventStreamOptions {
  /** Whether events have ids, and are kept to be sent again. */
  resumable: boolean;
  /** Whether the client is given an id before there is anything to tell (since 2025-11-25). */
  primes: boolean;
  /** Events that are kept. Default 1000. */
  maxEvents: number;
  /** Bytes that may wait for the reader, which is dropped beyond. */
  maxBufferedBytes: number;
  /** Milliseconds between the comments that keep an idle stream open. */
  keepAlive: number;
}

interface Kept {
  seq: number;
  /** Empty for an id without a message. */
  text: string;
}

/** The events of one request, or of what a session is told unasked, in order. */
export class EventStream {
  readonly id: string;
  readonly #options: EventStreamOptions;
  readonly #kept: Kept[] = [];
  #seq = 0;
  #sink: Sink | undefined;
  #keepAlive: ReturnType<typeof setInterval> | undefined;
  #finished = false;

  /** @param id unique in its session, and in the ids of its events */
  constructor(id: string, options: EventStreamOptions) {
    this.id = id;
    this.#options = options;
  }

  get connected(): boolean {
    return this.#sink !== undefined;
  }

  get finished(): boolean {
    return this.#finished;
  }

  /** Sends the stream over a connection from now on; one it had before is let go. */
  connect(sink: Sink): void {
    this.#sink?.end();
    this.#sink = sink;
    clearInterval(this.#keepAlive);
    this.#keepAlive = setInterval(() => sink.write(SSE_KEEP_ALIVE), this.#options.keepAlive);
    sink.onOver(() => this.#lose(sink));
    if (this.#options.resumable && this.#options.primes && this.#seq === 0) {
      this.#keep("");
      sink.write(ssePrimer(this.#eventId(this.#seq)));
    }
  }

  /**
   * Goes on over a new connection after the event that the client saw last.
   *
   * @returns false when what came after it is not kept any more
   */
  resume(sink: Sink, after: number): boolean {
    const first = this.#kept[0]?.seq ?? this.#seq + 1;
    if (after < first - 1 || after > this.#seq) return false;
    this.connect(sink);
    for (const { seq, text } of this.#kept) {
      if (seq > after && text !== "") sink.write(sseEventWithId(this.#eventId(seq), text));
    }
    if (this.#finished) sink.end();
    return true;
  }

  send(text: string): void {
    if (this.#finished) return;
    if (!this.#options.resumable) {
      this.#write(sseEvent(text));
      return;
    }
    this.#keep(text);
    this.#write(sseEventWithId(this.#eventId(this.#seq), text));
  }

  /** Sends the last event and ends the connection. */
  finish(text: string): void {
    this.send(text);
    this.end();
  }

  /** Nothing more comes. */
  end(): void {
    this.#finished = true;
    this.#sink?.end();
  }

  /**
   * Lets go of the connection, not of the stream (SEP-1699).
   *
   * @param retryMs milliseconds after which the client should come back
   */
  detach(retryMs: number): void {
    if (!this.#options.resumable || this.#sink === undefined || this.#seq === 0) return;
    this.#sink.write(sseRetry(retryMs));
    this.#sink.end();
  }

  #keep(text: string): void {
    this.#kept.push({ seq: ++this.#seq, text });
    if (this.#kept.length > this.#options.maxEvents) this.#kept.shift();
  }

  #write(text: string): void {
    if (this.#sink !== undefined && this.#sink.write(text) > this.#options.maxBufferedBytes)
      this.#sink.destroy();
  }

  #eventId(seq: number): string {
    return `${this.id}.${seq}`;
  }

  #lose(sink: Sink): void {
    if (this.#sink !== sink) return;
    this.#sink = undefined;
    clearInterval(this.#keepAlive);
  }
}

/** Takes an event's id apart. */
export function parseEventId(id: string): { stream: string; seq: number } | undefined {
  const [, stream, seq] = /^([\w-]+)\.(\d{1,15})$/.exec(id) ?? [];
  return stream === undefined ? undefined : { stream, seq: Number(seq) };
}
