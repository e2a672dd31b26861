/** Middleware: what stands around each request of a server. */

import type { JsonObject } from "@patchbay/core";
import type { Reply } from "./dispatch.ts";
import type { Exchange } from "./exchange.ts";

/** A request on its way to what answers it. */
export interface HandledRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** Who asks, and what they can do. */
  readonly exchange: Exchange;
}

/**
 * Stands before and after each request. It may look, wait, refuse (by throwing a `ProtocolError`), or give another
 * reply than `next()` does. A list's reply is a page whose text is ready: pass it on as it is.
 */
export type Middleware = (request: HandledRequest, next: () => Promise<Reply>) => Reply | Promise<Reply>;

/** Carries a request through the middleware, first added outermost, to the work. */
export function runThrough(
  chain: readonly Middleware[],
  request: HandledRequest,
  work: () => Reply | Promise<Reply>,
): Promise<Reply> {
  const from = async (index: number): Promise<Reply> => {
    const middleware = chain[index];
    return middleware === undefined ? work() : middleware(request, () => from(index + 1));
  };
  return from(0);
}
