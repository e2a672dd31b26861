/** Calls a listener of the caller's: what it throws is the caller's, and must not end the connection. */

/** Tells a listener, if there is one. An error that it throws is uncaught, as in an event listener. */
export function tell<T>(listener: ((value: T) => void) | undefined, value: T): void {
  try {
    listener?.(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
