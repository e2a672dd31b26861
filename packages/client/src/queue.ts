/** Work that takes turns. */

/** Work in this process, one at a time for each name. */
export class Queue {
  readonly #last = new Map<string, Promise<void>>();

  async run<T>(name: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    let done = () => {};
    const turn = new Promise<void>((resolve) => {
      done = resolve;
    });
    const last = Promise.resolve(before).then(() => turn);
    this.#last.set(name, last);
    last.then(() => {
      if (this.#last.get(name) === last) this.#last.delete(name);
    });
    try {
      await unlessAborted(before, signal);
      return await work();
    } finally {
      done();
    }
  }
}

/** Waits; an abort ends it at once. */
function unlessAborted(wait: Promise<void> | undefined, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined || wait === undefined) return Promise.resolve(wait);
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    wait.then(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
  });
}
