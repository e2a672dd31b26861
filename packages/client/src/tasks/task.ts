/** A call of a tool that goes on by itself: looked at, waited for and cancelled, now or by a later process. */

import type { CallToolResult, JsonObject, Task } from "@patchbay/core";
import { ConnectionError, TimeoutError } from "../errors.ts";
import { type CallOptions, MAX_DELAY, type RequestOptions } from "../options.ts";
import { backoff, pause } from "../pause.ts";

/** A call of a tool that runs as a task; of one that was answered at once, its result. */
export interface ToolTask<Output = CallToolResult> {
  /** Keep it to take the task up again with `client.task(taskId)`. Nothing where the server answered at once. */
  readonly taskId: string | undefined;
  /** Looks at it. Where the server answered at once it is `completed`. */
  get(options?: RequestOptions): Promise<Task>;
  /**
   * Waits for its result, and answers its questions meanwhile. Giving up, by `signal` or `maxTaskTime`, leaves the
   * task as it is.
   *
   * @throws ProtocolError when it failed
   * @throws TaskCancelledError when it was cancelled
   * @throws TimeoutError after `maxTaskTime`
   */
  result(options?: CallOptions): Promise<Output>;
  /** Resolves when the server has heard of it; one that is over stays as it is. */
  cancel(options?: RequestOptions): Promise<void>;
}

/** Tasks as one revision has them. */
export interface TaskMethods {
  get(taskId: string, options?: RequestOptions): Promise<Task>;
  cancel(taskId: string, options?: RequestOptions): Promise<void>;
  /**
   * Waits for the result of the call, as it would have been answered with.
   *
   * @param signal ends the waiting, and rejects with its reason
   * @param known what is known of the task, if anything
   * @param token what its progress is told under, where that outlives the call
   */
  follow(
    taskId: string,
    options: CallOptions,
    signal: AbortSignal,
    known?: Task,
    token?: string,
  ): Promise<JsonObject>;
}

/** Milliseconds between two looks at a task, whatever its server says. */
const MIN_INTERVAL = 100;
const MAX_INTERVAL = 60_000;
/** Where that says nothing, the first pause and the longest. */
const FIRST_INTERVAL = 500;
const MAX_GUESS = 10_000;

/** How long a request may take that waits for a task: as long as the task does. */
export const UNLIMITED = { timeout: Number.POSITIVE_INFINITY, maxTimeout: Number.POSITIVE_INFINITY };

/**
 * Milliseconds from one look at a task to the next.
 *
 * @param wanted what the server asks for, if it does
 * @param looks how many there were
 */
export function untilNextLook(wanted: number | undefined, looks: number, least = MIN_INTERVAL): number {
  const ms = wanted ?? backoff(looks, FIRST_INTERVAL, MAX_GUESS);
  return Math.min(Math.max(ms, least), MAX_INTERVAL);
}

const FIRST_PAUSE = 500;
const MAX_PAUSE = 30_000;
/** Times in a row that nothing came back. */
const MAX_FAILURES = 10;

/** A task does not end with a connection that breaks off: what may be asked again is. */
export async function retried<T>(
  ask: () => Promise<T>,
  isOver: () => boolean,
  signal: AbortSignal,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error) || signal.aborted || isOver() || failures >= MAX_FAILURES) throw error;
      const { retryAfter = 0 } = error as { retryAfter?: number };
      await pause(Math.min(retryAfter, MAX_PAUSE) + backoff(failures, FIRST_PAUSE, MAX_PAUSE), signal);
    }
  }
}

/** A failure of the way, or of a moment: not one that says what is thought of us. */
function isPassing(error: unknown): boolean {
  if (error instanceof TimeoutError) return true;
  if (!(error instanceof ConnectionError)) return false;
  const { reason, status } = error;
  if (status !== undefined) return status >= 500 || status === 429;
  return reason === "closed" || reason === "unreachable" || reason === "exited";
}

/** Does something within `maxTaskTime`, and until the caller gives up; its signal aborts when it is done, too. */
export async function within<T>(
  maxTaskTime: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const end = new AbortController();
  const timer = setTimeout(
    () => end.abort(new TimeoutError("tools/call", "maxTaskTime", maxTaskTime)),
    Math.min(maxTaskTime, MAX_DELAY),
  );
  const onAbort = () => end.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await work(end.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    end.abort(new DOMException("the task is no longer waited for", "AbortError"));
  }
}
