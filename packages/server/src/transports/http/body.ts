/** The body of a request, as text and within its limit. */

import type { IncomingMessage } from "node:http";

/** The body was larger than it may be. */
export class BodyTooLargeError extends Error {}

/**
 * Reads a body whole.
 *
 * @param done is given the text, or what went wrong: a BodyTooLargeError as soon as the limit is passed,
 *   another Error when the client went away
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  done: (text: string, failure?: Error) => void,
): void {
  if (Number(request.headers["content-length"]) > maxBytes) return done("", new BodyTooLargeError());
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let length = 0;
  let over = false;
  const finish = (text: string, failure?: Error) => {
    if (over) return;
    over = true;
    done(text, failure);
  };
  request.on("data", (chunk: Buffer) => {
    if (over) return;
    length += chunk.length;
    if (length > maxBytes) return finish("", new BodyTooLargeError());
    if (first === undefined) first = chunk;
    else if (rest === undefined) rest = [first, chunk];
    else rest.push(chunk);
  });
  request.on("end", () => {
    const whole = rest === undefined ? first : Buffer.concat(rest, length);
    finish(whole === undefined ? "" : whole.toString("utf8"));
  });
  request.on("error", (cause) => finish("", cause));
}
