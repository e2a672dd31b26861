/** `fetch` for packages that bring no limits: it ends a request that is not answered, and follows no redirect. */

import { setTimeout as pause } from "node:timers/promises";
import { isObject } from "@patchbay/core";

export interface FetchLimits {
  /** Milliseconds for an answer to begin. */
  timeoutMs: number;
  /** Times that an overload or a lost connection is tried again. Default 0. */
  maxRetries?: number;
}

const FIRST_PAUSE_MS = 500;
const OVERLOADED = new Set([408, 429, 500, 502, 503, 504]);

/** Gives a `fetch` that rejects a refusal, too: with its `status`, and the provider's word for it as `type`. */
export function timedFetch({ timeoutMs, maxRetries = 0 }: FetchLimits): typeof fetch {
  return async (input, init = {}) => {
    for (let tried = 0; ; tried++) {
      try {
        const response = await fetchOnce(input, init, timeoutMs);
        if (response.ok) return response;
        throw await refusal(response);
      } catch (error) {
        if (tried >= maxRetries || init.signal?.aborted || !isPassing(error)) throw error;
        await pause(FIRST_PAUSE_MS * 2 ** tried, undefined, init.signal ? { signal: init.signal } : {});
      }
    }
  };
}

async function fetchOnce(
  input: Parameters<typeof fetch>[0],
  init: RequestInit,
  timeoutMs: number,
): Promise<Response> {
  const waiting = new AbortController();
  const expire = () => waiting.abort(new DOMException("No answer in time", "TimeoutError"));
  const timer = setTimeout(expire, timeoutMs);
  const signals = [waiting.signal, ...(init.signal ? [init.signal] : [])];
  try {
    return await fetch(input, { ...init, redirect: "error", signal: AbortSignal.any(signals) });
  } finally {
    clearTimeout(timer);
  }
}

function isPassing(error: unknown): boolean {
  const { status } = error as { status?: number };
  return status === undefined ? error instanceof TypeError : OVERLOADED.has(status);
}

async function refusal(response: Response): Promise<Error> {
  const body: unknown = await response.json().catch(() => undefined);
  const told = isObject(body) && isObject(body.error) ? body.error : {};
  return Object.assign(new Error(String(told.message ?? "no reason given")), {
    status: response.status,
    type: String(told.status ?? told.type ?? "").toLowerCase(),
  });
}
