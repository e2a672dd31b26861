/** Where legacy sessions live: one contract, whatever keeps them. */

import type { SessionRecord } from "../legacy/session.ts";

/** May answer at once or later; an id is never guessable. */
export interface SessionStore {
  /** Milliseconds without being asked for after which a session ends; none where they don't. */
  readonly idleMs?: number;
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
   * Keeps what has changed; does nothing when the session has ended.
   *
   * @throws ProtocolError that names a limit
   */
  update(id: string, record: SessionRecord): void | Promise<void>;
  /** Ends a session; false when there was none. */
  delete(id: string): boolean | Promise<boolean>;
}
