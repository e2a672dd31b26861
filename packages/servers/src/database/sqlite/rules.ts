/** What a statement may do in SQLite, as SQLite's own authorizer sees it (sqlite.org/c3ref/set_authorizer.html). */

import { constants, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { DatabaseError } from "../limits.ts";

/** Everything that reading takes. All else is refused, whatever SQLite may learn to do. */
const READING = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
]);

/** What reaches other files, changes the connection, or ends the transaction that a change is made in. */
const NEVER = new Map([
  [constants.SQLITE_ATTACH, "ATTACH (or VACUUM, which needs it)"],
  [constants.SQLITE_DETACH, "DETACH"],
  [constants.SQLITE_PRAGMA, "PRAGMA"],
  [constants.SQLITE_TRANSACTION, "BEGIN, COMMIT or ROLLBACK"],
  [constants.SQLITE_SAVEPOINT, "SAVEPOINT"],
]);

const FORBIDDEN_FUNCTIONS = new Set(["load_extension", "fts3_tokenizer"]);

/** What full-text search asks for by itself. */
const ASKED_WITHIN = new Set(["data_version", "page_size"]);

/** Stands between SQLite and what it does, from a statement's compilation to its end. */
export class Rules {
  #rule: "none" | "read" | "write" = "none";
  #selects = false;
  #denied: string | undefined;

  /** @param db asks these rules from now on */
  constructor(db: DatabaseSyncInstance) {
    db.setAuthorizer((action, first, second) => {
      if (this.#rule === "none" || this.#allows(action, first, second)) return constants.SQLITE_OK;
      this.#denied ??=
        NEVER.get(action) ?? (action === constants.SQLITE_FUNCTION ? `${second}()` : "changes");
      return constants.SQLITE_DENY;
    });
  }

  /**
   * Runs what compiles and steps a statement that others wrote.
   *
   * @throws DatabaseError that says what was not allowed
   */
  enforce<T>(rule: "read" | "write", run: () => T): T {
    this.#rule = rule;
    this.#selects = false;
    this.#denied = undefined;
    try {
      return run();
    } catch (error) {
      if (this.#denied === undefined) throw error;
      const why =
        rule === "read"
          ? `query only reads (SELECT, WITH … SELECT, VALUES, EXPLAIN), and this statement does more: ${this.#denied}`
          : `${this.#denied} is not allowed here`;
      throw new DatabaseError(why);
    } finally {
      this.#rule = "none";
    }
  }

  /** Whether the statement that is being compiled selects: some that do not, such as VACUUM, ask for nothing. */
  get selects(): boolean {
    return this.#selects;
  }

  #allows(action: number, first: string | null, second: string | null): boolean {
    if (action === constants.SQLITE_PRAGMA && second === null && ASKED_WITHIN.has(first ?? "")) return true;
    if (action === constants.SQLITE_SELECT) this.#selects = true;
    if (action === constants.SQLITE_FUNCTION && FORBIDDEN_FUNCTIONS.has(second?.toLowerCase() ?? ""))
      return false;
    return this.#rule === "read" ? READING.has(action) : !NEVER.has(action);
  }
}
