/** A person is asked one thing at a time, whoever asks: approvals, forms, pages. */

/** Does work when all that was given before is done; an abort ends the waiting. */
export type OneAtATime = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

export function oneAtATime(): OneAtATime {
  let last: Promise<void> = Promise.resolve();
  return async (signal, work) => {
    const before = last;
    let done = () => {};
    const mine = new Promise<void>((resolve) => {
      done = resolve;
    });
    last = before.then(() => mine);
    try {
      await unlessAborted(before, signal);
      return await work();
    } finally {
      done();
    }
  };
}

/** Waits for a promise; an abort ends the waiting at once. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
