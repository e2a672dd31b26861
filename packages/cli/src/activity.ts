/** While a turn runs: a line that says what is happening and for how long, and a keyboard that hears Ctrl-C and waits for the rest. */

import { readFileSync } from "node:fs";
import { interrupt } from "./interrupts.ts";
import type { Output } from "./output.ts";

const FRAMES = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
/** Milliseconds between two frames. */
const PACE = 100;
/** Milliseconds after which it is worth saying what is waited for. */
const PATIENCE = 150;

/** What is happening, and since when (`performance.now()`). */
export interface Happening {
  what: string;
  since: number;
}

export class Activity {
  readonly #output: Output;
  readonly #keyboard = new QuietKeyboard();
  #happening: () => Happening | undefined = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #frame = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Runs a piece of work, and shows what is happening. */
  async during<T>(happening: () => Happening | undefined, work: () => Promise<T>): Promise<T> {
    this.#happening = happening;
    this.#start();
    try {
      return await work();
    } finally {
      this.#stop();
      this.#happening = () => undefined;
    }
  }

  /** What was typed while nobody was asked anything, for a prompt to begin with. */
  takeAhead(): string {
    return this.#keyboard.takeAhead().trim();
  }

  /** Asks the user something, while nothing else is drawn and the keyboard is theirs. */
  async whileAsking<T>(ask: () => Promise<T>): Promise<T> {
    const wasRunning = this.#timer !== undefined;
    this.#stop();
    try {
      return await ask();
    } finally {
      if (wasRunning) this.#start();
    }
  }

  #start(): void {
    this.#keyboard.take();
    this.#timer = setInterval(() => this.#draw(), PACE).unref();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#keyboard.release();
    this.#output.endProgress();
  }

  #draw(): void {
    const now = this.#happening();
    if (!this.#output.redraws || now === undefined) return;
    const lasted = performance.now() - now.since;
    if (lasted < PATIENCE) return;
    const frame = FRAMES[this.#frame++ % FRAMES.length];
    this.#output.progress(`${frame} ${lastedText(lasted)} ${now.what} (Ctrl-C stops)`);
  }
}

function lastedText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Characters that are kept of what is typed ahead. */
const MAX_AHEAD = 10_000;

/**
 * Keys that are pressed while nobody is asked anything. They are not echoed, and wait for the next prompt: what is typed
 * ahead must not answer a question that was not seen.
 */
class QuietKeyboard {
  #isTaken = false;
  #ahead = "";

  take(): void {
    if (this.#isTaken || process.stdin.isTTY !== true || isInBackground()) return;
    this.#isTaken = true;
    process.stdin.setRawMode(true);
    process.stdin.on("data", this.#onData);
    process.stdin.resume();
  }

  release(): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    process.stdin.off("data", this.#onData);
    process.stdin.pause();
    process.stdin.setRawMode(false);
  }

  takeAhead(): string {
    const ahead = this.#ahead;
    this.#ahead = "";
    return ahead;
  }

  readonly #onData = (data: Buffer | string): void => {
    const text = data.toString("utf8");
    // Arrows and the like.
    if (text.startsWith("\u001B")) return;
    for (const key of text) {
      if (key === "\u0003") interrupt();
      else if (key === "\u001C") process.kill(process.pid, "SIGQUIT");
      else if (key === "\u001A" && process.platform !== "win32") this.#suspend();
      else if (key === "\u007F" || key === "\b") this.#ahead = this.#ahead.slice(0, -1);
      else if (/[\r\n\t]/.test(key)) this.#ahead += " ";
      else if (key >= " ") this.#ahead += key;
    }
    this.#ahead = this.#ahead.slice(0, MAX_AHEAD);
  };

  /** Ctrl-Z: the terminal is the shell's until it gives it back. */
  #suspend(): void {
    process.stdin.setRawMode(false);
    process.once("SIGCONT", () => {
      if (this.#isTaken) process.stdin.setRawMode(true);
    });
    process.kill(process.pid, "SIGTSTP");
  }
}

/** A job in the background that changes the terminal is stopped by the system. Linux alone tells which it is. */
function isInBackground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return group !== foreground;
  } catch {
    return false;
  }
}
