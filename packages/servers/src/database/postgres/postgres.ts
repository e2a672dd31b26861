/** PostgreSQL: a URL, by connections whose transactions only read, and by one of its own for each change. */

import { SettingsError } from "../../builtin.ts";
import type { Changes, Database, Rows, Statement, TableDescription, TableName } from "../database.ts";
import { DatabaseError, type DatabaseLimits } from "../limits.ts";
import { Places } from "../places.ts";
import { checkFunctions } from "./functions.ts";
import { describeTable, listTables } from "./schema.ts";
import { Connections, type Session } from "./session.ts";
import { readRows, runOnce } from "./statement.ts";

/**
 * Opens a database when it is used.
 *
 * @param allowSuperuser whether roles are served that can reach files and programs of the database's machine
 * @throws SettingsError when the URL is none, without telling it: it may hold a password
 */
export function postgresDatabase(url: string, limits: DatabaseLimits, allowSuperuser: boolean): Database {
  if (!URL.canParse(url)) {
    throw new SettingsError("the URL of the database cannot be read: postgres://user@host:5432/name");
  }
  return new Postgres(new Connections(url, limits, allowSuperuser), limits);
}

class Postgres implements Database {
  readonly engine = "PostgreSQL";
  readonly parameterSyntax = "$1, $2 with an array of values";
  readonly #connections: Connections;
  readonly #limits: DatabaseLimits;
  readonly #places: Places;

  constructor(connections: Connections, limits: DatabaseLimits) {
    this.#connections = connections;
    this.#limits = limits;
    this.#places = new Places(limits);
  }

  tables(signal: AbortSignal): Promise<TableName[]> {
    return this.#reading(signal, (session) => listTables(session, this.#limits.maxTables));
  }

  describe(
    table: string,
    schema: string | undefined,
    signal: AbortSignal,
  ): Promise<TableDescription | undefined> {
    return this.#reading(signal, (session) => describeTable(session, table, schema));
  }

  query(statement: Statement, signal: AbortSignal): Promise<Rows> {
    const one = checked(statement);
    return this.#reading(signal, async (session) => {
      await checkFunctions(session, one.sql);
      return readRows(session, one, this.#limits);
    });
  }

  execute(statement: Statement, signal: AbortSignal): Promise<Changes> {
    const one = checked(statement);
    return this.#places.within(signal, () =>
      this.#connections.changing(signal, (session) => runOnce(session, one, this.#limits)),
    );
  }

  #reading<T>(signal: AbortSignal, run: (session: Session) => Promise<T>): Promise<T> {
    return this.#places.within(signal, () => this.#connections.reading(signal, run));
  }
}

function checked({ sql, parameters, maxRows }: Statement): Statement {
  if (sql.includes("\0")) throw new DatabaseError("the statement holds a NUL character");
  if (!Array.isArray(parameters))
    throw new DatabaseError("parameters of PostgreSQL are $1, $2, …: give an array of values");
  const whole = sql.replace(/[\s;]+$/, "").trimStart();
  if (whole === "") throw new DatabaseError("there is no statement in the text");
  return { sql: whole, parameters, maxRows };
}
