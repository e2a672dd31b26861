/** The messages of a text that came in: one, or those of a batch, which 2025-03-26 alone has. */

import {
  type InvalidMessage,
  type Message,
  parseMessage,
  parseMessages,
  type Revision,
} from "@patchbay/core";

/** Reads a text and hands on what is in it. We send no batches; a server of that revision may. */
export function eachMessage(
  text: string,
  revision: Revision | undefined,
  take: (message: Message | InvalidMessage) => void,
): void {
  if (revision !== "2025-03-26") return take(parseMessage(text));
  const read = parseMessages(text);
  if (Array.isArray(read)) for (const message of read) take(message);
  else take(read);
}
