/** What instances that serve the same sessions say to each other, and keep for each other: one contract. */

import type { ErrorMessage, JsonValue, RequestId, ResultMessage } from "@patchbay/core";
import type { Change } from "../changes.ts";
import type { SessionRecord } from "../legacy/session.ts";

/** What one instance says to another, or to all others. */
export type InstanceMessage =
  /** The client's answer to a request of the instance that is told. It says whether it waited for it. */
  | { kind: "answer"; session: string; message: ResultMessage | ErrorMessage }
  /** The client cancelled a request, wherever it is being answered. */
  | { kind: "cancel"; session: string; id: RequestId; reason?: string }
  /** A session was deleted, and its tasks with it. */
  | { kind: "ended"; session: string; key?: string }
  /** A session's record is another from now on. */
  | { kind: "record"; session: string; record: SessionRecord }
  /** The server changed. */
  | { kind: "changes"; changes: Change[] }
  /** A client wants to go on with a stream over a connection of the instance that asks. The answer is a `Resumed`. */
  | { kind: "resume"; session: string; stream: string; after: number; connection: string }
  /** What a stream sends over such a connection. */
  | { kind: "write"; connection: string; text: string; seq?: number }
  /** The stream lets go of such a connection. */
  | { kind: "close"; connection: string }
  /** Something could not be sent over such a connection: its client has to come back for it. */
  | { kind: "cut"; connection: string }
  /** Such a connection is over: its client has gone. */
  | { kind: "lost"; connection: string };

/** Whether a stream goes on, is over after what the client has seen, or is not kept that far. */
export type Resumed = "goes on" | "over" | "unknown";

export interface Instances {
  /** Names this instance among all that there are and were: letters and digits. */
  readonly id: string;
  /**
   * Takes what other instances say; what a listener gives, if anything, answers who asked.
   *
   * @returns ends it
   */
  listen(listener: (message: InstanceMessage, from: string) => JsonValue | undefined): () => void;
  /**
   * Asks another instance.
   *
   * @returns nothing when it has nothing to say, or is not there (any more)
   * @throws UnavailableError when it cannot be reached now
   */
  ask(instance: string, message: InstanceMessage): Promise<JsonValue | undefined>;
  /**
   * Tells another instance, in order.
   *
   * @throws UnavailableError when it cannot be reached now
   */
  tell(instance: string, message: InstanceMessage): Promise<void>;
  /**
   * Tells all others; costs nothing when there are none.
   *
   * @throws UnavailableError when they cannot be reached now
   */
  tellAll(message: InstanceMessage): Promise<void>;
  /**
   * Tells that an instance is gone; without a name, that what any of them said may have been missed.
   *
   * @returns ends it
   */
  onGone(listener: (instance?: string) => void): () => void;
  /**
   * Tells that others are heard and reached again, after what they said may have been missed, or what was said to them.
   *
   * @returns ends it
   */
  onBack(listener: () => void): () => void;
  /** Whether any other wants to hear of changes, as far as is known here. */
  readonly changesWanted: boolean;
  /** Says whether this instance wants to hear of changes. Resolves when others know, if they can be reached. */
  wantChanges(wanted: boolean): Promise<void>;
  readonly events: EventLog;
}

/** Keeps the events of streams for when the instance that sends them is gone. */
export interface EventLog {
  /** @param requests what the stream answers; none for what a session is told unasked */
  open(session: string, stream: string, requests: readonly RequestId[]): StreamLog;
  /**
   * What is kept of a stream after an event; nothing when it is not known, or not kept that far.
   *
   * @throws UnavailableError
   */
  read(session: string, stream: string, after: number): Promise<LoggedStream | undefined>;
}

/** Takes the events of one stream. Never waits, never throws: what cannot be kept is lost. */
export interface StreamLog {
  /** @param oldest number of the oldest event to keep */
  append(seq: number, text: string, oldest: number): void;
  /** What is kept stays for as long again, with nothing appended. */
  renew(): void;
  /** Nothing more comes. */
  finish(): void;
  /** Nobody will ask for it any more. */
  forget(): void;
}

export interface LoggedStream {
  readonly events: readonly { readonly seq: number; readonly text: string }[];
  /** Whether nothing more comes after these. */
  readonly finished: boolean;
  readonly requests: readonly RequestId[];
}
