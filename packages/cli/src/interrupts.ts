/** Who hears Ctrl-C: the piece of work that can be stopped alone, where there is one, else the program. */

/** Stops a piece of work; false when there is nothing left to stop, and the program should hear it. */
type OnInterrupt = () => boolean;

export class Interrupts {
  readonly #heard: OnInterrupt[] = [];

  /** Hears it from now on, before who did so far, and until the function that it gives is called. */
  hear(onInterrupt: OnInterrupt): () => void {
    this.#heard.push(onInterrupt);
    return () => {
      const at = this.#heard.lastIndexOf(onInterrupt);
      if (at !== -1) this.#heard.splice(at, 1);
    };
  }

  /** Tells the innermost; whether it was for somebody. */
  tell(): boolean {
    return this.#heard.at(-1)?.() === true;
  }
}

/** As if the terminal had sent it: while keys are read one by one, it does not. */
export function interrupt(): void {
  process.emit("SIGINT", "SIGINT");
}
