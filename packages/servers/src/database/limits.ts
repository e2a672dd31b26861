/** What bounds the use of a database, and the errors that name a bound. */

import { SettingsError } from "../builtin.ts";

/** Bounds on one database; each error that comes from one names it. */
export interface DatabaseLimits {
  /** Milliseconds for one statement; then it is ended. Default 10,000. */
  timeout: number;
  /** Rows of one answer. Default 1,000. */
  maxRows: number;
  /** Bytes of the rows of one answer, as JSON. Default 500,000. */
  maxBytes: number;
  /** Characters of a statement. Default 50,000. */
  maxSqlLength: number;
  /** Parameters of a statement. Default 1,000. */
  maxParameters: number;
  /** Tables that are listed. Default 1,000. */
  maxTables: number;
  /** Statements that run at once, each in a process (SQLite) or connection (PostgreSQL) of its own. Default 4. */
  maxConnections: number;
  /** Statements that wait for one of these. Default 100. */
  maxWaiting: number;
  /** Bytes of memory that a process with SQLite may take, then it is ended. Default 512 MiB. */
  maxMemoryBytes: number;
}

/** Those that are to be other than by default. */
export type DatabaseBounds = { [Name in keyof DatabaseLimits]?: DatabaseLimits[Name] | undefined };

export const DEFAULT_DATABASE_LIMITS: DatabaseLimits = {
  timeout: 10_000,
  maxRows: 1000,
  maxBytes: 500_000,
  maxSqlLength: 50_000,
  maxParameters: 1000,
  maxTables: 1000,
  maxConnections: 4,
  maxWaiting: 100,
  maxMemoryBytes: 512 * 1024 * 1024,
};

/** What is wrong with what was asked of a database, in words that may be shown. */
export class DatabaseError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DatabaseError";
  }
}

/** The error for a passed bound. */
export function limitExceeded<Name extends keyof DatabaseLimits>(
  name: Name,
  limits: Pick<DatabaseLimits, Name>,
  what: string,
  advice = "",
): DatabaseError {
  const allowed = (limits[name] as number).toLocaleString("en-US");
  const unit = name === "timeout" ? " ms" : "";
  return new DatabaseError(`${what} than ${name} allows (${allowed}${unit})${advice && `; ${advice}`}`);
}

/** @throws SettingsError when a bound is no positive whole number */
export function withDefaults(limits: DatabaseBounds): DatabaseLimits {
  const bounds = { ...DEFAULT_DATABASE_LIMITS };
  for (const name of Object.keys(bounds) as (keyof DatabaseLimits)[]) {
    const value = limits[name] ?? bounds[name];
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new SettingsError(`${name} of the database server must be a positive whole number, not ${value}`);
    }
    bounds[name] = value;
  }
  return bounds;
}
