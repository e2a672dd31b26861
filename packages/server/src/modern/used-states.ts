/** States that were used: what must not go on twice is held to that (basic/patterns/mrtr § Server Requirements). */

import { limitError } from "@patchbay/core";

/** Remembers which states were used. Instances that serve the same clients need one that they share. */
export interface UsedStates {
  /**
   * Marks a state as used, as if nobody else did at the same time.
   *
   * @param id names it among all
   * @param until when it expires and may be forgotten, in milliseconds since 1970
   * @returns whether it had not been used
   */
  use(id: string, until: number): boolean | Promise<boolean>;
}

/**
 * Remembers them in this process until they expire.
 *
 * @param max states that are remembered at once; beyond, none is taken up. Default 100,000
 */
export function memoryUsedStates(max = 100_000): UsedStates {
  // All live as long as one another, so they expire in the order in which they are used, or nearly so.
  const used = new Map<string, number>();
  return {
    use(id, until) {
      const now = Date.now();
      for (const [oldest, expires] of used) {
        if (expires > now) break;
        used.delete(oldest);
      }
      if (used.has(id)) return false;
      if (used.size >= max) {
        const what = `as many states as maxUsedStates allows (${max}) were used and have not expired; try later`;
        throw limitError("maxUsedStates", what, max);
      }
      used.set(id, until);
      return true;
    },
  };
}
