/** What comes back on one HTTP request: one JSON text, a stream of events, or a refusal. */

import type { IncomingHttpHeaders } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { createParser, type EventSourceMessage, type EventSourceParser } from "eventsource-parser";
import type { Dispatcher } from "undici";
import { ConnectionError } from "../errors.ts";
import type { Reader } from "./connections.ts";

/** Who is told what comes back. One of the last three is called last, unless the reply was finished or aborted. */
export interface ReplyListener {
  onHeaders?(headers: IncomingHttpHeaders): void;
  /** A whole text: a JSON body, or the data of an event; empty for an event that is there for its id alone. */
  onText(text: string, event?: EventSourceMessage): void;
  /** The server says how many milliseconds to wait before coming back. */
  onRetry?(ms: number): void;
  /** A success, read to its end. */
  onEnd(): void;
  /** A status that is no success, with the start of its body. */
  onRefusal(status: number, headers: IncomingHttpHeaders, body: string): void;
  onError(error: Error): void;
}

/** Of a refusal's body no more is read. */
const MAX_REFUSAL_BYTES = 64 * 1024;
/** Milliseconds that a server may take to end a stream once it has answered. */
const STREAM_END_TIMEOUT = 1_000;

/** A response that is awaited. */
export interface Reply {
  /** It is not sent yet: a user is being asked who they are. */
  readonly isWaiting?: boolean;
  /** Closes the response; nothing more is told. */
  abort(): void;
  /** What was asked is answered: a stream that goes on is closed, one that ends keeps its connection. */
  finish(): void;
}

type Body = "json" | "events" | "refusal" | "none";

/** Reads the response of one request, within bounds. */
export class ReplyReader implements Reply, Reader {
  readonly #listener: ReplyListener;
  readonly #serverName: string;
  readonly #maxMessageBytes: number;
  readonly #onEnded: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #over = false;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #body: Body = "none";
  #chunks: Buffer[] = [];
  #bytes = 0;
  #events: EventSourceParser | undefined;
  #decoder: StringDecoder | undefined;
  #lingering: NodeJS.Timeout | undefined;

  /** @param onEnded is told when the response has ended and its connection is still there */
  constructor(listener: ReplyListener, serverName: string, maxMessageBytes: number, onEnded: () => void) {
    this.#listener = listener;
    this.#serverName = serverName;
    this.#maxMessageBytes = maxMessageBytes;
    this.#onEnded = onEnded;
  }

  get isOver(): boolean {
    return this.#over;
  }

  abort(): void {
    this.#over = true;
    clearTimeout(this.#lingering);
    this.#controller?.abort(new Error("the response is no longer wanted"));
  }

  finish(): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#body === "events") this.#lingering = setTimeout(() => this.abort(), STREAM_END_TIMEOUT).unref();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) this.abort();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (this.#over || status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (status >= 300) {
      this.#body = "refusal";
      return;
    }
    this.#listener.onHeaders?.(headers);
    const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
    if (type === "text/event-stream") {
      this.#body = "events";
      this.#decoder = new StringDecoder();
      this.#events = createParser({
        onEvent: (event) => {
          if (!this.#over) this.#listener.onText(event.data, event);
        },
        onRetry: (ms) => this.#listener.onRetry?.(ms),
        onError: ({ type }) => {
          if (type === "max-buffer-size-exceeded") this.#fail(this.#tooLarge());
        },
        maxBufferSize: this.#maxMessageBytes,
      });
    } else if (type === "application/json") {
      this.#body = "json";
    } else if (type !== undefined && status === 200) {
      this.#fail(
        new ConnectionError(
          "not-mcp",
          `${this.#serverName} answered with ${type.slice(0, 100)}, not with an MCP message; is the path right?`,
          { status, mayHaveRun: true },
        ),
      );
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over || this.#body === "none") return;
    if (this.#body === "events") {
      this.#events?.feed((this.#decoder as StringDecoder).write(chunk));
      return;
    }
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#body === "json" && this.#bytes > this.#maxMessageBytes) this.#fail(this.#tooLarge());
    else if (this.#body === "refusal" && this.#bytes > MAX_REFUSAL_BYTES) this.#refuse();
  }

  onResponseEnd(): void {
    clearTimeout(this.#lingering);
    this.#onEnded();
    if (this.#over) return;
    if (this.#body === "refusal") {
      this.#refuse();
      return;
    }
    if (this.#body === "json" && this.#bytes > 0) this.#listener.onText(this.#text());
    if (this.#over) return;
    this.#over = true;
    this.#listener.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#lingering);
    if (this.#over) return;
    this.#over = true;
    this.#listener.onError(error);
  }

  #text(): string {
    const { 0: first, length } = this.#chunks;
    return (length === 1 ? (first as Buffer) : Buffer.concat(this.#chunks)).toString();
  }

  #refuse(): void {
    const body = this.#text();
    const ended = this.#bytes <= MAX_REFUSAL_BYTES;
    this.#over = true;
    if (!ended) this.abort();
    this.#listener.onRefusal(this.#status, this.#headers, body);
  }

  #fail(error: ConnectionError): void {
    this.abort();
    this.#listener.onError(error);
  }

  #tooLarge(): ConnectionError {
    const limit = `maxMessageBytes allows (${this.#maxMessageBytes})`;
    return new ConnectionError("too-large", `${this.#serverName} sent a message larger than ${limit}`, {
      mayHaveRun: true,
    });
  }
}
