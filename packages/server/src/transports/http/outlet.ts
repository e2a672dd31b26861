/** Where the messages of one legacy POST go: a JSON body, or a stream from the first that comes before the answer. */

import type { Refusal } from "../../answer.ts";
import type { EventStream } from "../../legacy/event-stream.ts";
import { type HttpExchange, JSON_TYPE } from "./exchange.ts";
import { sendRefusal } from "./responses.ts";

export class Outlet {
  readonly #http: HttpExchange;
  readonly #open: () => EventStream;
  #stream: EventStream | undefined;

  /** @param open makes the stream, if one is needed */
  constructor(http: HttpExchange, open: () => EventStream) {
    this.#http = http;
    this.#open = open;
  }

  send(text: string): void {
    this.#begin().send(text);
  }

  /** Sends the answer; one that may be asked again has a status of its own. */
  finish(text: string, refusal?: Refusal): void {
    if (this.#stream !== undefined) return this.#stream.finish(text);
    if (refusal !== undefined) return sendRefusal(this.#http, text, refusal);
    this.#http.respond(200, JSON_TYPE, text);
  }

  /** Ends without an answer, because the request was cancelled: a stream may do that, JSON may not. */
  close(): void {
    if (this.#stream !== undefined) return this.#stream.end();
    this.#http.openStream();
    this.#http.end();
  }

  /** Lets go of the connection, if the client can come back for the rest (SEP-1699). */
  detach(retryMs: number): void {
    this.#begin().detach(retryMs);
  }

  #begin(): EventStream {
    if (this.#stream === undefined) {
      this.#stream = this.#open();
      this.#http.openStream();
      this.#stream.connect(this.#http);
    }
    return this.#stream;
  }
}
