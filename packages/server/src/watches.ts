/** What is watched for legacy sessions: from when they subscribe until they unsubscribe, or are forgotten. */

import type { Watch } from "./features/resources.ts";

export class Watches {
  readonly #most: number;
  /** What ends each, by its session and URI; the oldest first. */
  readonly #begun = new Map<string, () => void>();

  /**
   * @param most at once: beyond, the oldest are let go
   * @throws Error when that is no positive integer
   */
  constructor(most = 1000) {
    if (!Number.isInteger(most) || most < 1)
      throw new Error(`maxWatches must be a positive integer, not ${most}`);
    this.#most = most;
  }

  /** @throws what `watch` throws */
  async begin(session: string | undefined, uri: string, watch: Watch): Promise<void> {
    const end = await watch(uri);
    this.end(session, uri);
    this.#begun.set(keyOf(session, uri), end);
    for (const [key, endOldest] of this.#begun) {
      if (this.#begun.size <= this.#most) break;
      this.#begun.delete(key);
      endOldest();
    }
  }

  end(session: string | undefined, uri: string): void {
    const key = keyOf(session, uri);
    this.#begun.get(key)?.();
    this.#begun.delete(key);
  }
}

function keyOf(session: string | undefined, uri: string): string {
  return `${session ?? ""} ${uri}`;
}
