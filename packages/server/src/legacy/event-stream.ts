/** A legacy stream of events that outlives its connection: a client that lost it comes back for the rest. */

import {
  type RequestId,
  SSE_KEEP_ALIVE,
  sseEvent,
  sseEventWithId,
  ssePrimer,
  sseRetry,
} from "@patchbay/core";
import type { StreamLog } from "../sessions/instances.ts";
import { every } from "../timers.ts";
import type { EventBudget, Keeper } from "./event-budget.ts";
import { eventIdPrefix } from "./event-id.ts";

/** A connection that a stream is sent over. */
export interface Sink {
  /**
   * Writes text; gives the bytes that the reader had not taken before it.
   *
   * @param seq the number of the event that it is, if it is one
   */
  write(text: string, seq?: number): number;
  end(): void;
  destroy(): void;
  onOver(listener: () => void): void;
}

export interface EventStreamOptions {
  /** What it answers; nothing where it is what a session is told unasked. */
  requests: readonly RequestId[];
  /** Whether events have ids, and are kept to be sent again. */
  resumable: boolean;
  /** Whether the client is given an id before there is anything to tell (since 2025-11-25). */
  primes: boolean;
  /** Events that are kept. */
  maxEvents: number;
  /** Bytes that may wait for the reader, which is dropped beyond; also the length of what is kept. */
  maxBufferedBytes: number;
  /** Milliseconds between the comments that keep an idle stream open. */
  keepAlive: number;
  /** What all streams together may keep. */
  budget: EventBudget;
  /** Keeps them for when this instance is gone, where others could go on. */
  log?: ((stream: string) => StreamLog) | undefined;
}

interface Kept {
  seq: number;
  text: string;
}

/** The events of one request, or of what a session is told unasked, in order. */
export class EventStream implements Keeper {
  readonly id: string;
  readonly #options: EventStreamOptions;
  readonly #onFinish: (stream: EventStream) => void;
  /** Written when first needed: most streams have no ids. */
  #idPrefix: string | undefined;
  readonly #kept: Kept[] = [];
  #keptLength = 0;
  /** Of the last event that was sent, and of the last that is kept no more. */
  #seq = 0;
  #lost = 0;
  #sink: Sink | undefined;
  #stopKeepAlive: () => void = () => {};
  #finishedAt: number | undefined;
  #log: StreamLog | undefined;
  /** Whether it is for another instance to go on with. */
  #left = false;

  /**
   * @param id unique in its session, and part of the ids of its events
   * @param onFinish is called once, when nothing more comes
   */
  constructor(id: string, options: EventStreamOptions, onFinish: (stream: EventStream) => void) {
    this.id = id;
    this.#options = options;
    this.#onFinish = onFinish;
    this.#log = options.resumable ? options.log?.(id) : undefined;
  }

  get resumable(): boolean {
    return this.#options.resumable;
  }

  /** Since when nothing more comes, by the clock. */
  get finishedAt(): number | undefined {
    return this.#finishedAt;
  }

  /** Sends what comes from now on over a connection; one it had before is let go. */
  connect(sink: Sink): void {
    this.#take(sink);
    if (this.resumable && this.#options.primes) sink.write(ssePrimer(this.#eventId(this.#seq)));
  }

  /** Whether all that came after an event is kept. */
  hasAfter(seq: number): boolean {
    return !this.#left && seq >= this.#lost && seq <= this.#seq;
  }

  /** Whether a client that has seen this event has seen all there will be. */
  isOverAfter(seq: number): boolean {
    return this.#finishedAt !== undefined && seq === this.#seq;
  }

  /** Goes on over a new connection after the event that the client saw last. */
  resume(sink: Sink, seq: number): void {
    this.#take(sink);
    for (const kept of this.#kept) {
      if (kept.seq > seq) sink.write(sseEventWithId(this.#eventId(kept.seq), kept.text), kept.seq);
    }
    if (this.#finishedAt !== undefined) sink.end();
  }

  send(text: string): void {
    if (this.#finishedAt !== undefined) return;
    const event = this.#next(text);
    const waiting = this.#sink?.write(event, this.#seq) ?? 0;
    if (waiting > this.#options.maxBufferedBytes) this.#sink?.destroy();
  }

  /** Sends the last event, however much is waiting: nothing can follow it. */
  finish(text: string): void {
    if (this.#finishedAt !== undefined) return;
    const event = this.#next(text);
    this.#sink?.write(event, this.#seq);
    this.end();
  }

  /** Nothing more comes. */
  end(): void {
    if (this.#finishedAt !== undefined) return;
    this.#finishedAt = Date.now();
    this.#log?.finish();
    this.#sink?.end();
    this.#onFinish(this);
  }

  /**
   * Lets go of the connection, not of the stream (SEP-1699). A client without an id could not come back.
   *
   * @param retryMs milliseconds after which the client should come back
   */
  detach(retryMs: number): void {
    if (!this.resumable || this.#sink === undefined || !(this.#options.primes || this.#seq > 0)) return;
    this.#sink.write(sseRetry(retryMs));
    this.#sink.end();
  }

  /** The text of the next event, which is kept where it may be asked for again. */
  #next(text: string): string {
    this.#seq++;
    if (!this.resumable) return sseEvent(text);
    this.#keep(text);
    return sseEventWithId(this.#eventId(this.#seq), text);
  }

  #take(sink: Sink): void {
    this.#sink?.end();
    this.#stopKeepAlive();
    this.#sink = sink;
    this.#stopKeepAlive = every(this.#options.keepAlive, () => sink.write(SSE_KEEP_ALIVE));
    sink.onOver(() => this.#lose(sink));
  }

  #lose(sink: Sink): void {
    if (this.#sink !== sink) return;
    this.#sink = undefined;
    this.#stopKeepAlive();
    // Nobody can come back for it.
    if (!this.resumable) this.end();
  }

  #keep(text: string): void {
    const { maxEvents, maxBufferedBytes } = this.#options;
    this.#kept.push({ seq: this.#seq, text });
    this.#keptLength += text.length;
    this.#options.budget.spend(this, text.length);
    while (this.#kept.length > maxEvents || (this.#keptLength > maxBufferedBytes && this.#kept.length > 1)) {
      const { seq, text: gone } = this.#kept.shift() as Kept;
      this.#keptLength -= gone.length;
      this.#options.budget.free(gone.length);
      this.#lost = seq;
    }
    this.#log?.append(this.#seq, text, this.#lost + 1);
  }

  letGo(): number {
    const length = this.#keptLength;
    this.#kept.length = 0;
    this.#keptLength = 0;
    this.#lost = this.#seq;
    return length;
  }

  /** It goes on for long, maybe with nothing to tell: what is kept of it elsewhere is to stay. */
  stay(): void {
    if (this.#finishedAt === undefined) this.#log?.renew();
  }

  /** Nobody will come back for it: what it keeps is free for others. */
  forget(): void {
    this.#options.budget.forget(this);
    this.#log?.forget();
  }

  /** This instance stops: what it has kept elsewhere stays as it is, for another to go on with. */
  leave(): void {
    this.#log = undefined;
    this.#left = true;
  }

  #eventId(seq: number): string {
    this.#idPrefix ??= eventIdPrefix(this.id, this.#options.requests);
    return this.#idPrefix + seq;
  }
}
