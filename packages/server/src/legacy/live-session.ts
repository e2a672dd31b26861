/** What is going on in a legacy session on this instance: requests being answered, ours that wait, and streams. */

import type { RequestId } from "@patchbay/core";
import type { Call } from "../exchange.ts";
import { EventStream, type EventStreamOptions, parseEventId, type Sink } from "./event-stream.ts";
import { ClientRequests } from "./push.ts";
import type { SessionRecord } from "./session.ts";

/** Milliseconds that a finished stream is kept, for a client that lost its end. */
const KEPT_FOR = 60_000;
const PREFIX = crypto.randomUUID().slice(0, 8);
let lastStream = 0;

export class LiveSession {
  /** As it was when last asked for. */
  record: SessionRecord;
  readonly calls = new Map<RequestId, Call>();
  readonly asked: ClientRequests;
  /** What the client is told unasked goes here, once it has opened it by GET. */
  standalone: EventStream | undefined;
  /** Ends what the standalone stream is told of. */
  untell: () => void = () => {};
  readonly #streams = new Map<string, EventStream>();
  readonly #onIdle: () => void;

  constructor(record: SessionRecord, answerTimeout: number | undefined, onIdle: () => void) {
    this.record = record;
    this.asked = new ClientRequests(answerTimeout);
    this.#onIdle = onIdle;
  }

  /** A new stream, to be found again by the ids of its events. */
  openStream(options: EventStreamOptions): EventStream {
    const stream = new EventStream(`${PREFIX}-${(++lastStream).toString(36)}`, options);
    this.#streams.set(stream.id, stream);
    return stream;
  }

  /** Goes on with the stream of an event; false when there is no such stream, or it is not kept that far. */
  resume(lastEventId: string, sink: Sink): boolean {
    const place = parseEventId(lastEventId);
    const stream = place && this.#streams.get(place.stream);
    return stream !== undefined && place !== undefined && stream.resume(sink, place.seq);
  }

  /** A stream is over: it is kept a while for who missed its end. */
  retire(stream: EventStream): void {
    const timer = setTimeout(() => {
      this.#streams.delete(stream.id);
      this.settle();
    }, KEPT_FOR);
    // Where timers keep a process alive, this one must not.
    if (typeof timer === "object") timer.unref();
  }

  /** Is kept no longer when nothing goes on in it. */
  settle(): void {
    if (this.calls.size === 0 && this.asked.size === 0 && this.#streams.size === 0) this.#onIdle();
  }

  /** The session has ended. */
  end(): void {
    for (const call of this.calls.values()) call.cancel("the session ended");
    this.asked.close();
    this.untell();
    for (const stream of this.#streams.values()) stream.end();
    this.#streams.clear();
  }
}
