/** Messages as server-sent events. */

/** One message as an event. JSON text has no raw line break, so `data` is always a single line. */
export function sseEvent(messageText: string): string {
  return `event: message\ndata: ${messageText}\n\n`;
}

/** A comment that keeps an idle stream open; receivers ignore it. */
export const SSE_KEEP_ALIVE = ":\n\n";
