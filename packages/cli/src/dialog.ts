/** Questions and typed answers on a terminal. */

import { type CompleterResult, createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { interrupt } from "./interrupts.ts";

export interface Terminal {
  input: Readable;
  /** Not stdout: that is for the answer. */
  output: Writable;
}

/** What Tab offers for the beginning of a line. */
export type Completer = (line: string) => Promise<CompleterResult>;

/** Asks for one line. Rejects when nobody will type any more. */
export type Ask = (text: string, complete?: Completer) => Promise<string>;

/** Whether somebody is there to be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/**
 * Holds a dialog. Who closes the input (Ctrl-D) has left it; so has who interrupts (Ctrl-C), and that stops what the dialog
 * is part of, too.
 *
 * @param left what the dialog gives then
 */
export async function dialog<T>(
  signal: AbortSignal,
  left: T,
  talk: (ask: Ask, output: Writable) => Promise<T>,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<T> {
  if (signal.aborted) return left;
  let complete: Completer = async (line) => [[], line];
  const lines = createInterface({
    input,
    output,
    historySize: 0,
    terminal: "isTTY" in input && input.isTTY === true,
    completer: (line: string, done: (error: null, result: CompleterResult) => void) =>
      void complete(line).then((result) => done(null, result)),
  });
  const reader = new LineReader(lines, signal);
  lines.on("SIGINT", () => {
    lines.close();
    interrupt();
  });
  const ask: Ask = async (text, completer) => {
    complete = completer ?? (async (line) => [[], line]);
    return reader.read(text, output);
  };
  try {
    return await talk(ask, output);
  } catch (thrown) {
    if (!(thrown instanceof Left)) throw thrown;
    // The cursor stands behind a question.
    output.write("\n");
    return left;
  } finally {
    reader.end();
  }
}

/** Nobody will type any more. */
class Left extends Error {}

/** Lines as they are asked for; who types ahead of the questions is heard too. */
class LineReader {
  readonly #lines: Interface;
  readonly #signal: AbortSignal;
  readonly #early: string[] = [];
  #waiting: { resolve: (line: string) => void; reject: (error: Error) => void } | undefined;
  #isClosed = false;
  readonly #onAbort = () => this.#leave();

  constructor(lines: Interface, signal: AbortSignal) {
    this.#lines = lines;
    this.#signal = signal;
    lines.on("line", (line) => {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (waiting === undefined) this.#early.push(line);
      else waiting.resolve(line);
    });
    lines.once("close", this.#onAbort);
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  async read(text: string, output: Writable): Promise<string> {
    const line = this.#early.shift();
    if (line !== undefined) {
      output.write(`${text}${line}\n`);
      return line;
    }
    if (this.#isClosed) throw new Left();
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#lines.setPrompt(text);
      this.#lines.prompt();
    });
  }

  end(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#lines.close();
  }

  #leave(): void {
    this.#isClosed = true;
    this.#waiting?.reject(new Left());
    this.#waiting = undefined;
  }
}
