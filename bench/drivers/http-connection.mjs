/**
 * One keep-alive HTTP/1.1 connection that has one request open at a time. It costs the load's core little, so that the
 * server's core is what is measured: no header objects, no streams; a body of known length, or chunked, JSON or SSE.
 */

import { connect } from "node:net";
import { ContenderError } from "../closed-loop.mjs";

const BUFFER_BYTES = 65_536;

export class HttpConnection {
  #socket;
  #received = "";
  #head;
  /** Set once a stream is opened. */
  #onHead;

  /** @type {(response: { status: number, head: string, body: string }) => void} */
  onResponse = () => {};
  /** @type {(error: Error) => void} */
  onError = () => {};

  /** @param {number} port @param {Record<string, string>} headers what every request has */
  constructor(port, headers) {
    this.#head = ` /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines(headers)}`;
    const onread = {
      buffer: Buffer.allocUnsafe(BUFFER_BYTES),
      callback: (length, buffer) => {
        this.#receive(buffer.latin1Slice(0, length)); // we send ASCII, and compare what comes back as such
        return true;
      },
    };
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true, onread });
    this.#socket.on("error", (error) => this.onError(new ContenderError(`connection: ${error.message}`)));
    this.#socket.on("close", () => this.onError(new ContenderError("closed a keep-alive connection")));
  }

  /** Resolves when the server has accepted the connection. */
  opened() {
    return new Promise((resolve, reject) => {
      this.onError = reject;
      this.#socket.once("connect", resolve);
    });
  }

  /** The head of requests whose body is `length` bytes long. */
  headOf(headers, length, method = "POST") {
    return `${method}${this.#head}${lines(headers)}content-length: ${length}\r\n\r\n`;
  }

  send(text) {
    this.#socket.write(text, "latin1");
  }

  /** Sends one request and waits for its response. */
  exchange(headers, body, method = "POST") {
    return new Promise((resolve, reject) => {
      this.onResponse = resolve;
      this.onError = reject;
      this.send(this.headOf(headers, body.length, method) + body);
    });
  }

  /** Opens a stream, and resolves when its head is there; what comes after it is passed over. */
  openStream(headers) {
    return new Promise((resolve, reject) => {
      this.#onHead = (head) => {
        const status = Number(head.slice(9, 12));
        if (status === 200) resolve();
        else reject(new ContenderError(`GET: HTTP ${status}`));
      };
      this.onError = reject;
      this.send(`GET${this.#head}${lines(headers)}\r\n`);
    });
  }

  close() {
    this.onError = () => {};
    this.#socket.destroy();
  }

  #receive(text) {
    if (this.#onHead !== undefined) {
      this.#onHead(text);
      this.#onHead = () => {};
      return;
    }
    this.#received = this.#received === "" ? text : this.#received + text;
    const response = parse(this.#received);
    if (response === undefined) return;
    this.#received = "";
    this.onResponse(response);
  }
}

function lines(headers) {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
}

/** The response, once it is there whole. */
function parse(text) {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd);
  const body = bodyOf(head, text, headEnd + 4);
  return body === undefined ? undefined : { status: Number(head.slice(9, 12)), head, body };
}

function bodyOf(head, text, start) {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (length) {
    const end = start + Number(length[1]);
    return text.length >= end ? text.slice(start, end) : undefined;
  }
  return /\r\ntransfer-encoding: *chunked/i.test(head) ? dechunk(text, start) : "";
}

function dechunk(text, start) {
  let body = "";
  for (let at = start; ; ) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (text.length < next) return undefined;
    if (size === 0) return body;
    body += text.slice(lineEnd + 2, next - 2);
    at = next;
  }
}
