/** Several messages in one POST, which only 2025-03-26 has (basic § Batching). */

import {
  ErrorCode,
  type InvalidMessage,
  type Message,
  NO_BATCHES,
  type RequestMessage,
  writeError,
} from "@patchbay/core";
import type { HttpExchange } from "./exchange.ts";
import type { Outlet } from "./outlet.ts";
import { refuse } from "./responses.ts";

/** What is done with each message. */
export interface BatchWork {
  /** @returns the answer's text, or nothing when the request was cancelled */
  answer(message: RequestMessage): Promise<string | undefined>;
  /** @returns false for a response that nobody waits for */
  take(message: Exclude<Message, RequestMessage> | InvalidMessage): boolean | Promise<boolean>;
}

/** The error that refuses a batch, if one does. */
export function batchError(length: number, revision: string, maxBatch: number): string | undefined {
  if (revision !== "2025-03-26") return writeError(undefined, NO_BATCHES.error);
  if (length <= maxBatch) return undefined;
  return writeError(undefined, {
    code: ErrorCode.InvalidRequest,
    message: `Invalid request: the batch has more messages than maxBatch allows (${maxBatch})`,
    data: { limit: "maxBatch", value: maxBatch },
  });
}

/** Answers the requests of a batch together; 202 when it has none. */
export async function serveBatch(
  messages: readonly (Message | InvalidMessage)[],
  work: BatchWork,
  outlet: Outlet,
  http: HttpExchange,
): Promise<void> {
  let taken = 0;
  const answers = await Promise.all(
    messages.map(async (message) => {
      if (message.kind === "invalid" && !message.isResponse) return writeError(message.id, message.error);
      if (message.kind === "request") return work.answer(message);
      if (await work.take(message)) taken++;
      return undefined;
    }),
  );
  const texts = answers.filter((text) => text !== undefined);
  if (texts.length > 0) outlet.finish(`[${texts.join(",")}]`);
  else if (messages.some(({ kind }) => kind === "request")) outlet.close();
  else if (taken > 0) http.respond(202);
  else refuse(http, 400, "No request is waiting for any of these responses");
}
