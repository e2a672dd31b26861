/** What the process that has SQLite answers to each request. */

import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { DatabaseError } from "../limits.ts";
import type { Opening, Reply, Request } from "./messages.ts";
import { Rules } from "./rules.ts";
import { describeTable, listTables } from "./schema.ts";
import { execute, query } from "./statement.ts";

/** Answers requests from a database that it opens at the first. */
export class Answers {
  readonly #opening: Opening;
  #open: Open | undefined;

  constructor(opening: Opening) {
    this.#opening = opening;
  }

  reply(request: Request): Reply {
    try {
      this.#open ??= openDatabase(this.#opening);
      return { answer: answer(request, this.#open, this.#opening) };
    } catch (error) {
      if (this.#open?.db.isTransaction) this.#open.db.exec("ROLLBACK");
      if (request.do !== "execute" && isRefusedChange(error)) return { error: LEFT_HALF, leftHalf: true };
      return { error: explained(error) };
    }
  }

  close(): void {
    this.#open?.db.close();
  }
}

interface Open {
  db: DatabaseSyncInstance;
  rules: Rules;
}

function openDatabase({ file, writes, busyTimeout, maxBytes }: Opening): Open {
  const db = new DatabaseSync(file, {
    readOnly: !writes,
    timeout: busyTimeout,
    readBigInts: true,
    returnArrays: true,
    allowExtension: false,
    defensive: true,
    // Nothing to attach; and no value that could never be answered, though it may be worked with.
    limits: { attach: 0, length: Math.max(16_000_000, 2 * maxBytes) },
  });
  // What a query sorts is kept in memory, which is watched, instead of in files, which are not.
  db.exec("PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF");
  return { db, rules: new Rules(db) };
}

function answer(request: Request, { db, rules }: Open, opening: Opening): unknown {
  switch (request.do) {
    case "tables":
      return listTables(db, opening.maxTables);
    case "describe":
      return describeTable(db, request.table);
    case "query":
      return query(db, rules, request.statement, opening);
    case "execute":
      return execute(db, rules, request.statement, opening);
    case "commit":
      db.exec("COMMIT");
      return null;
  }
}

const LEFT_HALF =
  "a program was killed in the middle of a change, which can be undone only where the database's file and folder may be written";

/** What reads is refused as a change when it finds the journal of one that was left half done. */
function isRefusedChange(error: unknown): boolean {
  return error instanceof Error && /readonly database/i.test(error.message);
}

/** SQLite's messages speak of the statement; where the file is, only its operator needs to know. */
function explained(error: unknown): string {
  if (error instanceof DatabaseError) return error.message;
  if (!(error instanceof Error)) return "SQLite failed";
  const { message } = error;
  if (/column index out of range/i.test(message))
    return "more values were given than the statement has parameters";
  if (/unable to open/i.test(message)) return "the database cannot be opened";
  if (/locked/i.test(message)) return `${message}: another program writes to it; try again`;
  return message.replaceAll(/\s*\/\* end \*\//g, "");
}
