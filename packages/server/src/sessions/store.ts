/** Where legacy sessions live: one contract, whatever keeps them. */

import { ErrorCode, ProtocolError } from "@patchbay/core";
import type { SessionRecord } from "../legacy/session.ts";
import type { Instances } from "./instances.ts";

/** A session ended while a request that had found it wanted to change it. */
export class SessionEndedError extends ProtocolError {
  constructor() {
    super(ErrorCode.InvalidRequest, "Session not found: it has ended; initialize again");
  }
}

/** May answer at once or later; an id is never guessable. */
export interface SessionStore {
  /** Milliseconds without being asked for after which a session ends; none where they don't. */
  readonly idleMs?: number;
  /** What the instances that serve the same sessions share, where there may be several. */
  readonly shared?: Instances;
  /** Whether a client's answers come to the instance that asked, or are handed on to it. Default true. */
  readonly takesAnswers?: boolean;
  /**
   * Keeps a new session; gives its id, or nothing where sessions have none.
   *
   * @throws ProtocolError that names a limit
   */
  create(record: SessionRecord): string | undefined | Promise<string | undefined>;
  /** The session of this id, if it lives; being asked for keeps it alive. */
  get(id: string): SessionRecord | undefined | Promise<SessionRecord | undefined>;
  /** Whether a session lives; that does not keep it alive. */
  has(id: string): boolean | Promise<boolean>;
  /**
   * Changes a session, as if nobody else did at the same time; does nothing when it has ended.
   *
   * @param change may be called again, with what another request has made of the session meanwhile
   * @returns the session as it is then, if it lives
   * @throws ProtocolError that names a limit; what `change` throws
   */
  update(
    id: string,
    change: (record: SessionRecord) => SessionRecord,
  ): SessionRecord | undefined | Promise<SessionRecord | undefined>;
  /** Ends a session; false when there was none. */
  delete(id: string): boolean | Promise<boolean>;
  /** How many live, on whatever instance; not where nobody counts them. */
  count?(): number | Promise<number>;
  /** Whether it can be reached now: an instance whose sessions cannot should be sent no requests. */
  ready?(): boolean | Promise<boolean>;
  /** Lets go of what it holds open; sessions live on where others can reach them. */
  close?(): Promise<void>;
}
