/** What the server and the process that has SQLite say to each other; it is all JSON. */

import type { Changes, Rows, Statement, TableDescription, TableName } from "../database.ts";

/** How the process opens its database. */
export interface Opening {
  file: string;
  /** Whether it may change something. */
  writes: boolean;
  /** Milliseconds to wait while another program has the database locked. */
  busyTimeout: number;
  maxBytes: number;
  maxTables: number;
  maxMemoryBytes: number;
}

/** A request by what it asks for, and what answers it. */
export interface Exchanges {
  tables: { request: { do: "tables" }; answer: TableName[] };
  describe: { request: { do: "describe"; table: string }; answer: TableDescription | null };
  query: { request: { do: "query"; statement: Statement }; answer: Rows };
  /** Leaves its transaction open. */
  execute: { request: { do: "execute"; statement: Statement }; answer: Changes };
  commit: { request: { do: "commit" }; answer: null };
}

export type Request = Exchanges[keyof Exchanges]["request"];

/** An answer, or what went wrong in words that may be shown. */
export type Reply =
  | { answer: unknown }
  | {
      error: string;
      /** Whether another program was killed in the middle of a change, which only who may write can undo. */
      leftHalf?: true;
    };

/** The signal that a process dies by which takes too much memory. */
export const OUT_OF_MEMORY = "SIGTERM";
