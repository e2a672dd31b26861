/** Timers that never keep a process alive. */

/** @returns stops it */
export function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms);
  letGo(timer);
  return () => clearInterval(timer);
}

/** @returns calls it off */
export function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  letGo(timer);
  return () => clearTimeout(timer);
}

/** Only where a timer is an object, on Node and its like, does it keep a process alive. */
function letGo(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === "object") timer.unref();
}
