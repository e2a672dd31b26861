/** Messages as server-sent events. */

/** One message as an event. JSON text has no raw line break, so `data` is always a single line. */
export function sseEvent(messageText: string): string {
  return `event: message\ndata: ${messageText}\n\n`;
}

/** A comment that keeps an idle stream open; receivers ignore it. */
export const SSE_KEEP_ALIVE = ":\n\n";

/** A message as an event that a stream can be resumed after. */
export function sseEventWithId(id: string, messageText: string): string {
  return `event: message\nid: ${id}\ndata: ${messageText}\n\n`;
}

/**
 * An event without a message: it gives the client an id to come back with.
 *
 * @param retryMs milliseconds after which it should
 */
export function ssePrimer(id: string, retryMs?: number): string {
  return `${retryMs === undefined ? "" : `retry: ${retryMs}\n`}id: ${id}\ndata: \n\n`;
}

/** Tells the client how long to wait before it connects again. */
export function sseRetry(retryMs: number): string {
  return `retry: ${retryMs}\n\n`;
}
