/** One HTTP request and its response, whatever carries them: Node's streams, or web objects. */

import type { Access } from "../../auth/access.ts";

/** The client's end of a stream of events. */
export interface StreamSink {
  /** Writes text; gives the bytes that the reader had not taken before it. */
  write(text: string): number;
  /** Ends the response. */
  end(): void;
  /** Calls back once when the response is over, by us or by the client; soon, if it is over already. */
  onOver(listener: () => void): void;
}

export interface HttpExchange extends StreamSink {
  readonly method: string;
  /** The URL's path. */
  readonly path: string;
  /** The URL's query. */
  readonly query: URLSearchParams;
  /** @param name in lower case */
  header(name: string): string | undefined;
  /**
   * Reads the body whole.
   *
   * @param done is given the text, or what went wrong: a BodyTooLargeError as soon as the limit is passed,
   *   another Error when the client went away
   */
  readBody(maxBytes: number, done: (text: string, failure?: Error) => void): void;
  /** What it may do: the gate says so, where there is one. */
  access: Access;
  /** Sets a header of the response, before it is sent. */
  setHeader(name: string, value: string): void;
  /**
   * Sends the whole response.
   *
   * @param pieces the body again, where it is there in pieces that need not be copied together
   */
  respond(
    status: number,
    contentType?: string,
    body?: string,
    pieces?: readonly (string | Uint8Array)[],
  ): void;
  /** Begins a response of events, to be written and ended. */
  openStream(): void;
  /** Gives the client up, whether or not a response has begun. */
  destroy(): void;
}

export const JSON_TYPE = "application/json";

/** The body was larger than it may be. */
export class BodyTooLargeError extends Error {}

/** The headers of a stream of events; proxies are told not to hold it back. */
export const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
} as const;
