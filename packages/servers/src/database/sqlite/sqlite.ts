/** SQLite: a file, opened by processes that can be killed, since nothing else stops a statement of SQLite's. */

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { SettingsError } from "../../builtin.ts";
import type { Changes, Database, Rows, Statement, TableDescription, TableName } from "../database.ts";
import { DatabaseError, type DatabaseLimits } from "../limits.ts";
import { Places } from "../places.ts";
import { LeftHalfError, SqliteConnection } from "./connection.ts";
import type { Exchanges } from "./messages.ts";

/** Milliseconds after which a process that nobody uses is ended. */
const IDLE = 60_000;
const HEADER = "SQLite format 3\0";

/**
 * Opens a database when it is used.
 *
 * @param file has to exist
 * @throws SettingsError when the file is no database of SQLite's
 */
export function sqliteDatabase(file: string, limits: DatabaseLimits): Database {
  checkFile(file);
  return new Sqlite(resolve(file), limits);
}

/** A process that waits for something to do. */
interface Idle {
  connection: SqliteConnection;
  /** Which file it has open. */
  identity: string;
  timer: NodeJS.Timeout;
}

class Sqlite implements Database {
  readonly engine = "SQLite";
  readonly parameterSyntax = "? with an array of values, or :name with an object";
  readonly #file: string;
  readonly #limits: DatabaseLimits;
  readonly #places: Places;
  readonly #idle: Idle[] = [];

  constructor(file: string, limits: DatabaseLimits) {
    this.#file = file;
    this.#limits = limits;
    this.#places = new Places(limits);
  }

  tables(signal: AbortSignal): Promise<TableName[]> {
    return this.#read<"tables">({ do: "tables" }, signal);
  }

  async describe(
    table: string,
    _schema: string | undefined,
    signal: AbortSignal,
  ): Promise<TableDescription | undefined> {
    return (await this.#read<"describe">({ do: "describe", table }, signal)) ?? undefined;
  }

  query(statement: Statement, signal: AbortSignal): Promise<Rows> {
    return this.#read<"query">({ do: "query", statement }, signal);
  }

  /** Each change has a process of its own, which is ended after it: nothing of it is left for the next. */
  execute(statement: Statement, signal: AbortSignal): Promise<Changes> {
    return this.#places.within(signal, async () => {
      this.#identify();
      const connection = this.#open(true);
      try {
        const changes = await connection.ask<"execute">({ do: "execute", statement }, signal);
        // From here on there is no way back, and who cancels now is too late.
        await connection.ask<"commit">({ do: "commit" }, NEVER).catch(notKnown);
        return changes;
      } finally {
        if (!connection.isAlive) await this.#undo();
        connection.close();
      }
    });
  }

  /** What a process began that was killed is in the file, and its undoing in a journal that only who may write can follow. */
  async #undo(): Promise<void> {
    const connection = this.#open(true);
    await connection.ask<"tables">({ do: "tables" }, NEVER).catch(() => {});
    connection.close();
  }

  #read<Name extends "tables" | "describe" | "query">(
    request: Exchanges[Name]["request"],
    signal: AbortSignal,
  ): Promise<Exchanges[Name]["answer"]> {
    return this.#places.within(signal, () =>
      this.#readOnce<Name>(request, signal).catch(async (error) => {
        if (!(error instanceof LeftHalfError)) throw error;
        await this.#undo();
        return this.#readOnce<Name>(request, signal);
      }),
    );
  }

  async #readOnce<Name extends "tables" | "describe" | "query">(
    request: Exchanges[Name]["request"],
    signal: AbortSignal,
  ): Promise<Exchanges[Name]["answer"]> {
    const identity = this.#identify();
    const connection = this.#takeIdle(identity) ?? this.#open(false);
    try {
      return await connection.ask<Name>(request, signal);
    } finally {
      this.#keep(connection, identity);
    }
  }

  /**
   * Which file it is now: another may have taken its name.
   *
   * @throws DatabaseError when it is gone: SQLite would make a new one
   */
  #identify(): string {
    const found = statSync(this.#file, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) throw new DatabaseError("the file of the database is not there any longer");
    return `${found.dev}:${found.ino}`;
  }

  #open(writes: boolean): SqliteConnection {
    const { timeout, maxBytes, maxTables, maxMemoryBytes } = this.#limits;
    // Who is kept waiting by another program's lock is told so, before time is up.
    const busyTimeout = Math.floor(timeout / 2);
    const opening = { file: this.#file, writes, busyTimeout, maxBytes, maxTables, maxMemoryBytes };
    return new SqliteConnection(opening, this.#limits);
  }

  #takeIdle(identity: string): SqliteConnection | undefined {
    for (;;) {
      const idle = this.#idle.pop();
      if (idle === undefined) return undefined;
      clearTimeout(idle.timer);
      idle.connection.ref();
      if (idle.connection.isAlive && idle.identity === identity) return idle.connection;
      idle.connection.close();
    }
  }

  #keep(connection: SqliteConnection, identity: string): void {
    if (!connection.isAlive) return;
    connection.unref();
    const timer = setTimeout(() => {
      connection.close();
      this.#idle.splice(this.#idle.indexOf(idle), 1);
    }, IDLE).unref();
    const idle = { connection, identity, timer };
    this.#idle.push(idle);
  }
}

const NEVER = new AbortController().signal;

function notKnown(error: Error): never {
  throw new DatabaseError(`whether the change was made is not known: ${error.message}`, { cause: error });
}

/** @throws SettingsError for the operator, who named the file */
function checkFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined)
    throw new SettingsError(`There is no file "${file}"; a database that is served has to exist`);
  if (!found.isFile()) throw new SettingsError(`"${file}" is no file`);
  if (found.size === 0) return;
  const start = Buffer.alloc(HEADER.length);
  const descriptor = openSync(file, "r");
  readSync(descriptor, start);
  closeSync(descriptor);
  if (start.toString("latin1") !== HEADER) throw new SettingsError(`"${file}" is no database of SQLite's`);
}
