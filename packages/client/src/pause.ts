/** Waiting before another try: longer each time, and never all clients at once. */

/** Milliseconds before a lost connection is opened again, or a request sent again that a server wants later. */
export const FIRST_PAUSE = 100;
export const MAX_PAUSE = 10_000;

/** Waits; an abort ends it at once, and rejects with the signal's reason. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Milliseconds before a try: `first`, doubled for each that failed before, at most `max`; the later half is chance. */
export function backoff(failures: number, first: number, max: number): number {
  const whole = Math.min(first * 2 ** Math.min(failures, 30), max);
  return whole / 2 + (Math.random() * whole) / 2;
}
