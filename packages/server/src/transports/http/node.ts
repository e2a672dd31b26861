/** HTTP on Node: the request and response streams themselves, without web objects between. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { type Access, ANYBODY } from "../../auth/access.ts";
import { after } from "../../timers.ts";
import { BodyTooLargeError, type HttpExchange, STREAM_HEADERS } from "./exchange.ts";

export const DEFAULT_DRAIN_TIMEOUT = 30_000;

/** Names and values in turn, as Node takes them without a copy. */
const STREAM_HEAD = Object.entries(STREAM_HEADERS).flat();
const PARTING = ["connection", "close"];

/** Characters of a body that is given to Node as bytes. */
const LONG = 256 * 1024;
/** Bytes of a request's body that are read to no purpose, so that its connection can be kept. */
const READ_ANYWAY = 64 * 1024;
/** Milliseconds in which a client that is refused while it sends can take the response before it is cut off. */
const HEAR_OUT = 1000;

export class NodeExchange implements HttpExchange {
  access: Access = ANYBODY;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #drainTimeout: number;
  /** What a stream was given in the turn in which it began: it leaves with the head, and alone if that is all. */
  #held: string | undefined;

  /** @param drainTimeout milliseconds in which a reader has to take something of a response that is all there */
  constructor(request: IncomingMessage, response: ServerResponse, drainTimeout = DEFAULT_DRAIN_TIMEOUT) {
    this.#request = request;
    this.#response = response;
    this.#drainTimeout = drainTimeout;
  }

  get method(): string {
    return this.#request.method ?? "";
  }

  get path(): string {
    const { url = "" } = this.#request;
    const mark = url.indexOf("?");
    return mark === -1 ? url : url.slice(0, mark);
  }

  get query(): URLSearchParams {
    const { url = "" } = this.#request;
    const mark = url.indexOf("?");
    return new URLSearchParams(mark === -1 ? "" : url.slice(mark));
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return typeof value === "object" ? value.join(", ") : value;
  }

  readBody(maxBytes: number, done: (text: string, failure?: Error) => void): void {
    const request = this.#request;
    const length = Number(request.headers["content-length"]);
    if (length > maxBytes) return done("", new BodyTooLargeError());
    // A short body comes with its head: after this turn it is there, and is taken without a stream's events.
    process.nextTick(() => {
      const begun: Buffer | null = request.read();
      if (begun !== null && begun.length === length) done(begun.toString("utf8"));
      else collect(request, begun, maxBytes, done);
    });
  }

  setHeader(name: string, value: string): void {
    if (!this.#response.headersSent) this.#response.setHeader(name, value);
  }

  respond(status: number, contentType?: string, body = "", pieces?: readonly (string | Uint8Array)[]): void {
    const response = this.#response;
    if (response.destroyed || response.headersSent || this.#held !== undefined) return;
    const parting = leavesMuch(this.#request);
    if (contentType === undefined) {
      response.writeHead(status, parting ? PARTING : []);
      if (parting) this.#part();
      else response.end();
      return;
    }
    // Node copies a string together with the head, which costs more than a write of its own only when it is long.
    const parts = pieces ?? [body.length > LONG ? Buffer.from(body, "utf8") : body];
    let length = 0;
    for (const part of parts) length += Buffer.byteLength(part);
    const head = ["content-type", contentType, "content-length", String(length)];
    response.writeHead(status, parting ? [...head, ...PARTING] : head);
    // Node keeps what is written in one turn together with the head.
    for (let i = 0; i < parts.length - 1; i++) response.write(parts[i]);
    if (parting) {
      response.write(parts.at(-1));
      return this.#part();
    }
    response.end(parts.at(-1));
    this.#timeReader();
  }

  openStream(): void {
    if (this.#response.destroyed) return;
    this.#held = "";
    process.nextTick(() => this.#release());
  }

  write(text: string): number {
    if (this.#held !== undefined) {
      const waiting = this.#held.length;
      this.#held += text;
      return waiting;
    }
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return 0;
    const waiting = response.writableLength;
    response.write(text);
    return waiting;
  }

  end(): void {
    const response = this.#response;
    const whole = this.#held;
    this.#held = undefined;
    if (response.destroyed || response.writableEnded) return;
    if (whole !== undefined) {
      response.writeHead(200, [...STREAM_HEAD, "content-length", String(Buffer.byteLength(whole))]);
      response.end(whole);
    } else {
      response.end();
    }
    this.#timeReader();
  }

  /** The turn in which the stream began is over, and it goes on. */
  #release(): void {
    const response = this.#response;
    const begun = this.#held;
    this.#held = undefined;
    if (begun === undefined || response.destroyed) return;
    response.writeHead(200, STREAM_HEADERS);
    if (begun === "") response.flushHeaders();
    else response.write(begun);
  }

  onOver(listener: () => void): void {
    // Who has gone already is not heard to go.
    if (this.#response.destroyed) queueMicrotask(listener);
    else this.#response.once("close", listener);
  }

  destroy(): void {
    this.#response.destroy();
  }

  /**
   * The response is all there, and its client is still sending what nobody will read. A connection that is closed
   * with something unread loses what was last written to it, so that is read for a moment.
   */
  #part(): void {
    const response = this.#response;
    response.flushHeaders();
    const end = () => response.end();
    const callOff = after(HEAR_OUT, end);
    this.#request.once("end", end).resume();
    response.once("close", callOff);
  }

  /** Who does not take what is left of a response is dropped; the next request of a connection is timed anew. */
  #timeReader(): void {
    if (this.#response.writableLength > 0) this.#request.socket.setTimeout(this.#drainTimeout);
  }
}

/** Whether more of a request is yet to come than would be read for nothing. */
function leavesMuch(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const { "transfer-encoding": coding, "content-length": length } = request.headers;
  return coding !== undefined || Number(length ?? 0) > READ_ANYWAY;
}

/** Reads what is left of a body, in pieces. */
function collect(
  request: IncomingMessage,
  begun: Buffer | null,
  maxBytes: number,
  done: (text: string, failure?: Error) => void,
): void {
  if (request.destroyed) return done("", new Error("The client went away"));
  const pieces = begun === null ? [] : [begun];
  let length = begun?.length ?? 0;
  if (length > maxBytes) return done("", new BodyTooLargeError());
  let over = false;
  const finish = (text: string, failure?: Error) => {
    if (over) return;
    over = true;
    done(text, failure);
  };
  request.on("data", (piece: Buffer) => {
    if (over) return;
    length += piece.length;
    if (length > maxBytes) return finish("", new BodyTooLargeError());
    pieces.push(piece);
  });
  request.on("end", () => finish(Buffer.concat(pieces, length).toString("utf8")));
  request.on("error", (cause) => finish("", cause));
}
