/** Conversations in one SQLite file that only its user may read. Processes may share it. */

import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { PrivateFile } from "@patchbay/client/private-file";
import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import { type ConversationInfo, type ConversationStore, holdBy } from "./store.ts";

export interface ConversationDatabaseOptions {
  /** Conversations that are kept; the oldest go first. Default 100. */
  maxConversations?: number;
  /** Milliseconds to wait for another process that writes. Default 5,000. */
  busyTimeout?: number;
}

export interface ConversationDatabase extends ConversationStore {
  close(): void;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS conversations (
    id TEXT PRIMARY KEY,
    saved_at INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS conversations_by_time ON conversations (saved_at);`;
const SAVE = `
  INSERT INTO conversations (id, saved_at, text) VALUES (?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET saved_at = excluded.saved_at, text = excluded.text`;
const FORGET = `
  DELETE FROM conversations WHERE id IN
    (SELECT id FROM conversations ORDER BY saved_at DESC, id LIMIT -1 OFFSET ?)`;

/**
 * Keeps conversations in a SQLite database: each is replaced as a whole, in a transaction, and is on the disk then.
 *
 * @param file is made where there is none, of mode 0600
 * @throws the system's or SQLite's error where it cannot be opened
 */
export async function conversationDatabase(
  file: string,
  { maxConversations = 100, busyTimeout = 5_000 }: ConversationDatabaseOptions = {},
): Promise<ConversationDatabase> {
  const { DatabaseSync } = await import("@photostructure/sqlite");
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // SQLite gives its own files, the journal too, the mode of this one.
  closeSync(openSync(file, "a", 0o600));
  const db: DatabaseSyncInstance = new DatabaseSync(file, { timeout: busyTimeout });
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${SCHEMA}`);
  const save = db.prepare(SAVE);
  const forget = db.prepare(FORGET);
  const load = db.prepare("SELECT text FROM conversations WHERE id = ?");
  const remove = db.prepare("DELETE FROM conversations WHERE id = ?");
  const list = db.prepare("SELECT id, saved_at AS savedAt FROM conversations ORDER BY saved_at DESC, id");
  // Only locked beside, never read as a file.
  const locks = new PrivateFile(file, 0);
  return {
    hold: (id, signal) => holdBy(locks, id, signal),
    load: async (id) => (load.get(id) as { text: string } | undefined)?.text,
    async save(id, text) {
      save.run(id, Date.now(), text);
      forget.run(maxConversations);
    },
    async remove(id) {
      remove.run(id);
    },
    list: async () => list.all() as unknown as ConversationInfo[],
    close: () => db.close(),
  };
}
