/** HTTP as web objects: a `Request` in, a `Response` out, for Workers, Deno, Bun and their like. */

import { type Access, ANYBODY } from "../../auth/access.ts";
import { BodyTooLargeError, type HttpExchange, STREAM_HEADERS } from "./exchange.ts";

export class WebExchange implements HttpExchange {
  access: Access = ANYBODY;
  /** Settles as soon as the response has begun. */
  readonly response: Promise<Response>;
  readonly #request: Request;
  readonly #headers = new Headers();
  readonly #encoder = new TextEncoder();
  readonly #overListeners: (() => void)[] = [];
  #resolve!: (response: Response) => void;
  #begun = false;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  #over = false;

  constructor(request: Request) {
    this.#request = request;
    this.response = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    request.signal.addEventListener("abort", () => this.destroy(), { once: true });
  }

  get method(): string {
    return this.#request.method;
  }

  get path(): string {
    return new URL(this.#request.url).pathname;
  }

  get query(): URLSearchParams {
    return new URL(this.#request.url).searchParams;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers.get(name);
    if (value !== null) return value;
    // Outside of Node a request may carry its host in the URL alone.
    return name === "host" ? new URL(this.#request.url).host : undefined;
  }

  readBody(maxBytes: number, done: (text: string, failure?: Error) => void): void {
    void this.#readBody(maxBytes).then(
      (text) => done(text),
      (cause: Error) => done("", cause),
    );
  }

  setHeader(name: string, value: string): void {
    this.#headers.set(name, value);
  }

  respond(status: number, contentType?: string, body?: string): void {
    if (contentType !== undefined) this.#headers.set("content-type", contentType);
    this.#begin(status, contentType === undefined ? null : (body ?? ""));
    this.#finish();
  }

  openStream(): void {
    if (this.#begun) return;
    for (const [name, value] of Object.entries(STREAM_HEADERS)) this.#headers.set(name, value);
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#stream = controller;
        },
        cancel: () => this.#finish(),
      },
      // Nothing is read ahead: what is wanted less than nothing is what the reader has not taken.
      new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
    );
    this.#begin(200, body);
  }

  write(text: string): number {
    if (this.#over || this.#stream === undefined) return 0;
    const waiting = -(this.#stream.desiredSize ?? 0);
    this.#stream.enqueue(this.#encoder.encode(text));
    return waiting;
  }

  end(): void {
    if (this.#over) return;
    this.#stream?.close();
    this.#finish();
  }

  onOver(listener: () => void): void {
    if (this.#over) queueMicrotask(listener);
    else this.#overListeners.push(listener);
  }

  destroy(): void {
    if (this.#over) return;
    this.#stream?.error(new Error("The connection was given up"));
    // Nobody reads it, but whoever waits for a response must not wait forever.
    this.#begin(400, null);
    this.#finish();
  }

  #begin(status: number, body: ReadableStream<Uint8Array> | string | null): void {
    if (this.#begun) return;
    this.#begun = true;
    this.#resolve(new Response(body, { status, headers: this.#headers }));
  }

  async #readBody(maxBytes: number): Promise<string> {
    if (Number(this.#request.headers.get("content-length")) > maxBytes) throw new BodyTooLargeError();
    const reader = this.#request.body?.getReader();
    if (reader === undefined) return "";
    const decoder = new TextDecoder();
    let text = "";
    let length = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      length += value.length;
      if (length > maxBytes) {
        reader.cancel().catch(() => {});
        throw new BodyTooLargeError();
      }
      text += decoder.decode(value, { stream: true });
    }
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    for (const listener of this.#overListeners.splice(0)) listener();
  }
}
