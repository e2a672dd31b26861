/** Questions and typed answers on a terminal. */

import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";

export interface Terminal {
  input: Readable;
  /** Not stdout: that is for the answer. */
  output: Writable;
}

/** Asks for one line. Rejects when nobody will type any more. */
export type Ask = (text: string) => Promise<string>;

/** Whether somebody is there to be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/**
 * Holds a dialog. Who closes the input, or interrupts, has left it.
 *
 * @param left what the dialog gives then
 */
export async function dialog<T>(
  signal: AbortSignal,
  left: T,
  talk: (ask: Ask, output: Writable) => Promise<T>,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<T> {
  const lines = createInterface({ input, output });
  const closed = new AbortController();
  lines.once("close", () => closed.abort());
  // Who types ahead of the questions is heard too.
  const early: string[] = [];
  lines.on("line", (line) => early.push(line));
  const ask = async (text: string) => {
    const line = early.shift();
    if (line === undefined) return lines.question(text, { signal: AbortSignal.any([signal, closed.signal]) });
    output.write(`${text}${line}\n`);
    return line;
  };
  try {
    return await talk(ask, output);
  } catch (thrown) {
    if (closed.signal.aborted || signal.aborted || (thrown as Error).name === "AbortError") return left;
    throw thrown;
  } finally {
    lines.close();
  }
}
