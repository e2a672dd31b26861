/** Tells a client what a command writes, as progress: not each piece, but what came together. */

import type { Context } from "@patchbay/server";

const EVERY_MS = 100;
/** While a command is silent its client hears this often that it runs still. */
const SILENCE_MS = 5_000;

/** The output of one call, on its way to who called. */
export class Telling {
  readonly #context: Context;
  readonly #timeout: number;
  readonly #started = performance.now();
  readonly #heartbeat: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #text = "";
  #told = 0;

  /** @param timeout seconds that the command may take: the total of its progress */
  constructor(context: Context, timeout: number) {
    this.#context = context;
    this.#timeout = timeout;
    this.#heartbeat = setInterval(() => this.#tell(), SILENCE_MS);
    this.#heartbeat.unref();
  }

  readonly write = (text: string): void => {
    this.#text += text;
    this.#timer ??= setTimeout(() => this.#tell(), EVERY_MS);
  };

  /** Tells what is left, before the result does. */
  end(): void {
    clearInterval(this.#heartbeat);
    if (this.#text !== "") this.#tell();
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#text;
    this.#text = "";
    const milliseconds = Math.round(performance.now() - this.#started);
    // What does not grow is not sent.
    this.#told = Math.max(this.#told + 1, milliseconds);
    const seconds = this.#told / 1000;
    this.#context.progress(seconds, Math.max(this.#timeout, seconds), text === "" ? undefined : text);
  }
}
