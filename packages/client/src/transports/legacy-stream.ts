/** A stream of events that is opened by GET, and opened again whenever it breaks off (2025-11-25, basic/transports). */

import type { IncomingHttpHeaders } from "node:http";
import { ConnectionError } from "../errors.ts";
import { retryAfterOf } from "./http-errors.ts";
import type { Reply, ReplyListener } from "./reply.ts";
import type { StreamPosition } from "./stream-position.ts";

/** What a stream needs of its transport. */
export interface LegacyStreamHost {
  /** Sends the GET, after the event of this id if there is one. */
  get(lastEventId: string | undefined, listener: ReplyListener): Reply;
  onText(text: string): void;
  /** The server does not give the stream; it is not asked again, unless this says so. */
  onRefusal(status: number, headers: IncomingHttpHeaders, body: string): "again" | "over";
  /** Tries in a row that reach nobody, until it is not opened again. Default: for ever. */
  readonly maxFailures?: number;
  /** It ended each time without an event, or nobody was there; or what comes next passes a limit. */
  onBarren(why?: ConnectionError): void;
}

/** Streams that ended without a single event, one after another, until it is not opened again. */
const MAX_BARREN = 5;

export class LegacyStream {
  readonly #host: LegacyStreamHost;
  readonly #position: StreamPosition;
  #reply: Reply | undefined;
  #timer: NodeJS.Timeout | undefined;
  #barren = 0;
  #failures = 0;

  constructor(host: LegacyStreamHost, position: StreamPosition) {
    this.#host = host;
    this.#position = position;
  }

  /** Opens the stream at once. */
  open(): void {
    let bare = true;
    let brought = false;
    this.#reply = this.#host.get(this.#position.lastEventId, {
      onHeaders: () => {
        this.#failures = 0;
      },
      onText: (text, event) => {
        // A body that is no stream is not what was asked for.
        if (event === undefined) return;
        bare = false;
        this.#barren = 0;
        const isNew = this.#position.take(event);
        // Events without data are there to carry an id.
        if (!isNew || text === "") return;
        brought = true;
        this.#host.onText(text);
      },
      onRetry: (ms) => this.#position.retryAfter(ms),
      onEnd: () => {
        this.#ended(bare);
        if (!bare && !brought) this.#position.polls++;
      },
      onRefusal: (status, headers, body) => {
        if (this.#host.onRefusal(status, headers, body) !== "again") return;
        this.#position.notBefore(retryAfterOf(status, headers) ?? 0);
        this.#failed();
      },
      onError: (error) => {
        if (!(error instanceof ConnectionError)) return this.#failed();
        // Who comes back after the last event is sent the same next one.
        if (error.reason === "too-large" && this.#position.lastEventId !== undefined)
          return this.#host.onBarren(error);
        // An answer that is no stream will be the same the next time.
        this.#ended(true, error);
      },
    });
  }

  /** Opens the stream when the server wants it to be. */
  openLater(): void {
    this.#timer = setTimeout(() => this.open(), this.#position.pause());
  }

  /** Nothing more is wanted of it. */
  close(): void {
    clearTimeout(this.#timer);
    this.#reply?.abort();
  }

  /** What was waited for is there. */
  finish(): void {
    clearTimeout(this.#timer);
    this.#reply?.finish();
  }

  #ended(bare: boolean, why?: ConnectionError): void {
    if (bare && ++this.#barren >= MAX_BARREN) this.#host.onBarren(why);
    else this.#again(bare);
  }

  #failed(): void {
    if (++this.#failures >= (this.#host.maxFailures ?? Number.POSITIVE_INFINITY)) this.#host.onBarren();
    else this.#again(true);
  }

  #again(failed: boolean): void {
    this.openLater();
    if (failed) this.#position.failures++;
  }
}
