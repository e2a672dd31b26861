/** The response to one POST: JSON, unless something has to be said before the answer; then a stream. */

import type { ServerResponse } from "node:http";
import { ErrorCode, sseEvent } from "@patchbay/core";
import type { Answer } from "../../answer.ts";

const NO_STORE = "no-cache, no-transform";

/** Bytes that may wait for a reader of a stream before it is dropped. */
export const DEFAULT_MAX_BUFFERED_BYTES = 4 * 1024 * 1024;

export class Responder {
  readonly #response: ServerResponse;
  readonly #maxBufferedBytes: number;
  #streaming = false;

  constructor(response: ServerResponse, maxBufferedBytes: number) {
    this.#response = response;
    this.#maxBufferedBytes = maxBufferedBytes;
  }

  /** Sends a notification ahead of the answer. A reader that lets too much pile up is dropped. */
  notify(text: string): void {
    const response = this.#response;
    if (response.destroyed) return;
    if (!this.#streaming) {
      this.#streaming = true;
      response.writeHead(200, {
        "content-type": "text/event-stream",
        "cache-control": NO_STORE,
        "x-accel-buffering": "no",
      });
    }
    response.write(sseEvent(text));
    if (response.writableLength > this.#maxBufferedBytes) response.destroy();
  }

  /** Sends the answer and ends. */
  finish({ text, errorCode }: Answer, modern: boolean): void {
    const response = this.#response;
    if (response.destroyed) return;
    if (this.#streaming) {
      response.end(sseEvent(text));
      return;
    }
    sendJson(response, errorCode === undefined || !modern ? 200 : statusOf(errorCode), text);
  }
}

/**
 * The status of a modern answer (streamable-http § Protocol Version Header, basic/index § _meta). An error that
 * came of carrying the request out is an answer like any other.
 */
function statusOf(code: number): number {
  if (code === ErrorCode.MethodNotFound) return 404;
  return code === ErrorCode.MissingRequiredClientCapability ? 400 : 200;
}

/** Sends a whole JSON body. */
export function sendJson(response: ServerResponse, status: number, text: string): void {
  const body = Buffer.from(text, "utf8");
  response.writeHead(status, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
}
