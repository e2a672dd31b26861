/** What the process that was started and its workers tell each other. */

import type { FailureKind } from "../failure.ts";

/** To a worker. */
export type ToWorker =
  /** First of all: which it is, and what all of them have to have the same. */
  | { kind: "begin"; number: number; secrets: string[]; port: number; clientSecret: string | undefined }
  /** Finish what is being answered, and end. */
  | { kind: "drain" };

/** From a worker. */
export type FromWorker =
  /** It hears what it is told from now on. */
  | { kind: "hears" }
  | { kind: "listening"; url: string }
  /** It cannot serve, and another could not either. */
  | { kind: "failure"; failure: FailureKind; exitCode: number; message: string };

/** What else comes over the same channel, such as metrics, is not ours. */
export function isOurs<Message extends { kind: string }>(
  message: unknown,
  ...kinds: Message["kind"][]
): message is Message {
  return typeof message === "object" && message !== null && kinds.includes((message as Message).kind);
}
