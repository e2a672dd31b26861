/** What is going on in a legacy session on this instance: requests being answered, ours that wait, and streams. */

import { ErrorCode, limitError, ProtocolError, type RequestId } from "@patchbay/core";
import type { Call } from "../exchange.ts";
import { EventStream, type EventStreamOptions } from "./event-stream.ts";
import { ClientRequests } from "./push.ts";
import type { SessionRecord } from "./session.ts";

/** Finished streams of one session that are kept for a client that lost their end. */
const MAX_FINISHED = 64;

export interface LiveLimits {
  /** Requests of one session that may be in flight at once. */
  maxInFlight: number;
  /** Milliseconds that a client is given to answer a request of ours. */
  answerTimeout: number | undefined;
  /** Whether its answers come here. */
  takesAnswers?: boolean | undefined;
  /** The name of this instance, where there may be others. */
  instance?: string | undefined;
}

interface Running {
  call: Call;
  abandon: () => void;
}

export class LiveSession {
  /** As it was when last asked for. */
  record: SessionRecord;
  /** What the client is told unasked goes here, once it has opened it by GET. */
  standalone: EventStream | undefined;
  readonly asked: ClientRequests;
  readonly #limits: LiveLimits;
  readonly #onIdle: () => void;
  readonly #prefix: string;
  /** Made for the first, like all that a session which only listens has no use for: a map costs 300 bytes. */
  #running: Map<RequestId, Running> | undefined;
  readonly #streams = new Map<string, EventStream>();
  /** The oldest first. */
  readonly #finished: EventStream[] = [];
  #untell: () => void = () => {};
  #connections = 0;
  #lastStream = 0;

  /** @param onIdle is called whenever nothing goes on in it any more */
  constructor(record: SessionRecord, limits: LiveLimits, onIdle: () => void) {
    this.record = record;
    // Unique, so that ids never come again in the session, whatever instance it is served by.
    const unique = crypto.randomUUID().slice(0, 8);
    this.#prefix = limits.instance === undefined ? unique : `${limits.instance}-${unique}`;
    this.asked = new ClientRequests(limits.answerTimeout, `${this.#prefix}-`, limits.takesAnswers);
    this.#limits = limits;
    this.#onIdle = onIdle;
  }

  /** The session as it is now, if that is news: what is heard of it need not come in order. */
  refresh(record: SessionRecord): void {
    if ((record.changes ?? 0) < (this.record.changes ?? 0)) return;
    this.record = record;
    if (!this.mayListen) this.standalone?.end();
  }

  /** Whether what the client is told unasked goes to a stream of this instance. */
  get mayListen(): boolean {
    return this.record.listener === this.#limits.instance;
  }

  /** Whether a client is waiting at the other end of a connection. */
  get connected(): boolean {
    return this.#connections > 0;
  }

  /** A connection is part of it until it is over. */
  attach(connection: { onOver(listener: () => void): void }): void {
    this.#connections++;
    connection.onOver(() => {
      this.#connections--;
      this.settle();
    });
  }

  /**
   * Makes sure that a request may begin. Other instances are not asked: that would cost each call a write, and a client
   * that uses an id twice at once harms nobody else.
   *
   * @throws ProtocolError (−32600) when its id is taken, or too many are in flight
   */
  admit(id: RequestId): void {
    const { maxInFlight } = this.#limits;
    const running = this.#running;
    if (running === undefined) return;
    if (running.has(id)) {
      const message = `A request with the id ${JSON.stringify(id)} is in flight already`;
      throw new ProtocolError(ErrorCode.InvalidRequest, message);
    }
    if (running.size >= maxInFlight) {
      const what = `more requests in flight than maxInFlight allows (${maxInFlight})`;
      throw limitError("maxInFlight", what, maxInFlight);
    }
  }

  /**
   * A request is in flight.
   *
   * @param abandon is called when it is cancelled: its handler may take its time to notice
   * @returns tells that its handler is done
   */
  begin(id: RequestId, call: Call, abandon: () => void): () => void {
    this.#running ??= new Map();
    this.#running.set(id, { call, abandon });
    return () => {
      this.#running?.delete(id);
      this.settle();
    };
  }

  /** False when there is no such request in flight here. */
  cancel(id: RequestId, reason?: string): boolean {
    const running = this.#running?.get(id);
    if (running === undefined) return false;
    if (running.call.cancelled) return true;
    running.call.cancel(reason);
    running.abandon();
    return true;
  }

  /** A new stream, to be found again by the ids of its events. */
  openStream(options: EventStreamOptions): EventStream {
    const id = `${this.#prefix}-${++this.#lastStream}`;
    const stream = new EventStream(id, options, (finished) => this.#retire(finished));
    this.#streams.set(id, stream);
    return stream;
  }

  /**
   * Opens the stream of what the client is told unasked.
   *
   * @param tell begins to tell it, and gives what ends that
   */
  openStandalone(
    options: EventStreamOptions,
    tell: (send: (text: string) => void) => () => void,
  ): EventStream {
    const stream = this.openStream(options);
    this.standalone = stream;
    this.#untell = tell((text) => stream.send(text));
    return stream;
  }

  /** The stream of this id; nothing when there is none, or it is not kept as far back as after an event. */
  placeIn(stream: string, after: number): EventStream | undefined {
    const found = this.#streams.get(stream);
    return found?.hasAfter(after) ? found : undefined;
  }

  /** Forgets the streams that were finished by then; the others stay. */
  forget(finishedBy: number): void {
    for (const stream of this.#streams.values()) stream.stay();
    while ((this.#finished[0]?.finishedAt ?? Number.POSITIVE_INFINITY) <= finishedBy) this.#forgetOldest();
    this.settle();
  }

  /** Tells whoever keeps it when nothing goes on in it. */
  settle(): void {
    const running = this.#running?.size ?? 0;
    if (this.#connections + running + this.asked.size + this.#streams.size === 0) this.#onIdle();
  }

  /** Nobody will answer, and nothing more is told unasked; the requests in flight are answered still. */
  finish(): void {
    this.asked.close();
    // Another instance may go on with it.
    this.standalone?.leave();
    this.standalone?.end();
  }

  /** This instance stops, but another may go on. */
  leave(reason: string): void {
    for (const stream of this.#streams.values()) stream.leave();
    this.end(reason);
  }

  /** The session is over, and all that goes on in it. */
  end(reason: string): void {
    for (const id of [...(this.#running?.keys() ?? [])]) this.cancel(id, reason);
    this.asked.close();
    for (const stream of [...this.#streams.values()]) {
      stream.end();
      stream.forget();
    }
    this.#streams.clear();
    this.#finished.length = 0;
  }

  /** A stream is finished: it is kept for a client that missed its end, where that can come back. */
  #retire(stream: EventStream): void {
    if (stream === this.standalone) {
      this.standalone = undefined;
      this.#untell();
    }
    if (stream.resumable) {
      this.#finished.push(stream);
      if (this.#finished.length > MAX_FINISHED) this.#forgetOldest();
    } else {
      this.#forgetStream(stream);
    }
    this.settle();
  }

  #forgetOldest(): void {
    const stream = this.#finished.shift();
    if (stream !== undefined) this.#forgetStream(stream);
  }

  #forgetStream(stream: EventStream): void {
    this.#streams.delete(stream.id);
    stream.forget();
  }
}
