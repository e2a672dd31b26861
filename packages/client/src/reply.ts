/** Answers to what a server asks: sent until they are delivered. */

import { ConnectionError } from "./errors.ts";
import { backoff, pause } from "./pause.ts";

/** A server that restarts is back by then. */
const TRIES = 8;
const FIRST_PAUSE = 100;
const MAX_PAUSE = 3000;

/**
 * Sends an answer, again where a connection broke or the server failed: one that is lost leaves the server waiting, one
 * that comes twice does no harm.
 *
 * @param over aborts when the connection has ended, which says so itself
 */
export async function deliver(
  text: string,
  post: (text: string) => Promise<void>,
  over: AbortSignal,
): Promise<void> {
  for (let failures = 0; failures < TRIES && !over.aborted; failures++) {
    try {
      return await post(text);
    } catch (error) {
      const { status = 503, retryAfter = 0 } = error as Partial<ConnectionError>;
      if (!(error instanceof ConnectionError) || status < 500) return;
      const ms = Math.min(retryAfter, MAX_PAUSE) + backoff(failures, FIRST_PAUSE, MAX_PAUSE);
      await pause(ms, over).catch(() => {});
    }
  }
}
