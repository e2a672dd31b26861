/** stdio: one message a line; stdout holds messages and nothing else (basic/transports/stdio). */

import type { Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { type Channel, DEFAULT_MAX_LINE_LENGTH, ErrorCode, LineReader, writeError } from "@patchbay/core";
import type { McpServer } from "../server.ts";
import { type ChannelOptions, serveChannel } from "./channel.ts";

export interface StdioOptions extends ChannelOptions {
  /** Default: the process's stdin. */
  input?: Readable;
  /** Default: the process's stdout, which is then kept for messages: what else prints to it goes to stderr. */
  output?: Writable;
  /** Characters in one line; a longer one is answered with an error. Default 16 Mi. */
  maxLineLength?: number;
  /** Bytes that may wait for a client that does not read; beyond, it is given up. Default 64 MiB. */
  maxBufferedBytes?: number;
  /** Milliseconds that requests in flight are given when the input ends. Default 1000. */
  graceMs?: number;
}

/** Serves one client over stdio. Resolves when the client has closed our input, or gone away. */
export function serveStdio(server: McpServer, options: StdioOptions = {}): Promise<void> {
  const { input = process.stdin, maxLineLength = DEFAULT_MAX_LINE_LENGTH, graceMs = 1000 } = options;
  const { maxBufferedBytes = 64 * 1024 * 1024 } = options;
  const output = options.output ?? takeStdout();
  return new Promise((resolve) => {
    const channel = new StdioChannel(input, output, { maxLineLength, maxBufferedBytes }, resolve);
    const serving = serveChannel(server, channel, options);
    channel.onInputEnd = async () => {
      const grace = new AbortController();
      await Promise.race([
        serving.finish(),
        setTimeout(graceMs, undefined, { signal: grace.signal }).catch(() => {}),
      ]);
      grace.abort();
      await channel.close();
    };
  });
}

/** Keeps the real stdout for messages and sends every other print to stderr, so that none breaks the protocol. */
function takeStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  return new Proxy(stdout, {
    get: (target, key) => {
      if (key === "write") return write;
      const value = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Characters that are worth a write of their own. */
const PIECE = 2048;

interface StdioLimits {
  maxLineLength: number;
  maxBufferedBytes: number;
}

class StdioChannel implements Channel {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #limits: StdioLimits;
  readonly #onEnd: () => void;
  /** What to do when the client sends nothing more; it may still wait for answers. */
  onInputEnd: () => void = () => {};
  #onClose: ((cause?: Error) => void) | undefined;
  #outgoing = "";
  #closed = false;

  constructor(input: Readable, output: Writable, limits: StdioLimits, onEnd: () => void) {
    this.#input = input;
    this.#output = output;
    this.#limits = limits;
    this.#onEnd = onEnd;
  }

  /** Messages of one turn leave together, but not so many that the client waits for all of them with nothing to do. */
  send(text: string): void {
    if (this.#closed) return;
    if (this.#outgoing === "") setImmediate(() => this.#flush());
    this.#outgoing += `${text}\n`;
    if (this.#outgoing.length >= PIECE) this.#flush();
  }

  listen(onMessage: (text: string) => void, onClose: (cause?: Error) => void): void {
    this.#onClose = onClose;
    const lines = new LineReader(
      onMessage,
      (limit) => {
        const message = `Invalid request: a line is longer than maxLineLength allows (${limit} characters)`;
        this.send(
          writeError(undefined, {
            code: ErrorCode.InvalidRequest,
            message,
            data: { limit: "maxLineLength", value: limit },
          }),
        );
      },
      this.#limits.maxLineLength,
    );
    this.#input.setEncoding("utf8");
    this.#input.on("data", (text: string) => {
      lines.push(text);
      // A client that does not read its answers is not read either, until it does.
      if (this.#output.writableNeedDrain) {
        this.#input.pause();
        this.#output.once("drain", () => this.#input.resume());
      }
    });
    let ended = false;
    this.#input.once("end", () => {
      ended = true;
      lines.end();
      this.onInputEnd();
    });
    // Destroyed without an end, nobody is there any more.
    this.#input.once("close", () => ended || this.#end());
    this.#input.once("error", (cause) => this.#end(cause));
    this.#output.once("error", (cause) => this.#end(cause));
  }

  async close(): Promise<void> {
    this.#flush();
    this.#end();
  }

  #flush(): void {
    if (this.#closed || this.#outgoing === "") return;
    const text = this.#outgoing;
    this.#outgoing = "";
    if (this.#output.writableLength <= this.#limits.maxBufferedBytes) this.#output.write(text);
    else this.#end(new Error("The client does not read what it is sent"));
  }

  #end(cause?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#outgoing = "";
    this.#input.destroy();
    this.#onClose?.(cause);
    this.#onEnd();
  }
}
