/** Where legacy sessions live: one contract, whatever keeps them. */

import type { SessionRecord } from "../legacy/session.ts";

/** May answer at once or later; an id is never guessable. */
export interface SessionStore {
  /** Keeps a new session; gives its id, or nothing where sessions have none. */
  create(record: SessionRecord): string | undefined | Promise<string | undefined>;
  /** The session of this id, if it lives; being asked for keeps it alive. */
  get(id: string): SessionRecord | undefined | Promise<SessionRecord | undefined>;
  /** Keeps what has changed. */
  update(id: string, record: SessionRecord): void | Promise<void>;
  /** Ends a session; false when there was none. */
  delete(id: string): boolean | Promise<boolean>;
}
