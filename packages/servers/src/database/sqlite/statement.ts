/** One statement of others, compiled and run in SQLite within its bounds. */

import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite";
import type { Changes, Rows, Statement } from "../database.ts";
import { DatabaseError, type DatabaseLimits } from "../limits.ts";
import { RowBudget } from "../row-budget.ts";
import {
  bytesCell,
  bytesOf,
  type Cell,
  floatCell,
  integerCell,
  type Parameters,
  type Row,
} from "../values.ts";
import type { Rules } from "./rules.ts";

type Bounds = Pick<DatabaseLimits, "maxBytes">;
type Value = null | bigint | number | string | Uint8Array;

/** @throws DatabaseError, or SQLite's own error */
export function query(db: DatabaseSyncInstance, rules: Rules, statement: Statement, bounds: Bounds): Rows {
  return rules.enforce("read", () => {
    const prepared = prepareOne(db, statement.sql);
    // Opened read-only, SQLite still takes what asks for no permission: VACUUM, REINDEX.
    if (!rules.selects)
      throw new DatabaseError("query only reads: SELECT, WITH … SELECT, VALUES or EXPLAIN of one of these");
    return take(db, prepared, statement, bounds, false);
  });
}

/** Changes something in a transaction of its own, and leaves that open. */
export function execute(
  db: DatabaseSyncInstance,
  rules: Rules,
  statement: Statement,
  bounds: Bounds,
): Changes {
  db.exec("BEGIN IMMEDIATE");
  const [before] = counts(db);
  const rows = rules.enforce("write", () => take(db, prepareOne(db, statement.sql), statement, bounds, true));
  const [after, changes, lastInsertRowid] = counts(db);
  // changes() speaks of the last statement that changed rows; it is this one only if the total grew.
  if (after === before) return { ...rows, changes: 0 };
  return { ...rows, changes: Number(changes), lastInsertRowid: integerCell(lastInsertRowid) };
}

function counts(db: DatabaseSyncInstance): [total: bigint, last: bigint, rowid: bigint] {
  return db.prepare("SELECT total_changes(), changes(), last_insert_rowid()").get();
}

const END = "\n/* end */";

/**
 * Compiles a text that holds one statement. SQLite compiles the first of a text and passes over the rest; whether there
 * was a rest shows in what it says that it compiled.
 */
function prepareOne(db: DatabaseSyncInstance, sql: string): StatementSyncInstance {
  if (sql.includes("\0")) throw new DatabaseError("the statement holds a NUL character");
  const whole = sql.replace(/[\s;]+$/, "");
  const { expandedSQL } = db.prepare(whole + END, { expandedSQL: true });
  if (expandedSQL === undefined) throw new DatabaseError("there is no statement in the text");
  if (!expandedSQL.endsWith(END))
    throw new DatabaseError("only one statement is run at a time, and nothing may follow its semicolon");
  return db.prepare(whole);
}

function take(
  db: DatabaseSyncInstance,
  prepared: StatementSyncInstance,
  { sql, parameters, maxRows }: Statement,
  bounds: Bounds,
  toItsEnd: boolean,
): Rows {
  checkAllGiven(db, sql, parameters);
  const columns = prepared.columns().map(({ name, type }) => ({ name, type }));
  const budget = new RowBudget(maxRows, bounds);
  const rows: Iterable<Value[]> = prepared.iterate(...bindings(parameters));
  for (const row of rows) if (!budget.take(row.map(toCell)) && !toItsEnd) break;
  return { columns, rows: budget.rows, cutBy: budget.cutBy };
}

/** Behind comments, too. */
const EXPLAIN = /^(?:\s|--.*\n|\/\*(?:(?!\*\/)[\s\S])*\*\/)*explain\b/i;

/** A parameter that is left out would be NULL, silently. Which there are, SQLite's own program says. */
function checkAllGiven(db: DatabaseSyncInstance, sql: string, parameters: Parameters): void {
  const given = Object.keys(parameters).length;
  if (EXPLAIN.test(sql)) return;
  const program: [addr: bigint, opcode: string, p1: bigint][] = db.prepare(`EXPLAIN ${sql}`).all() as [
    bigint,
    string,
    bigint,
  ][];
  const used = new Set(program.filter(([, opcode]) => opcode === "Variable").map(([, , p1]) => p1));
  const needed = Array.isArray(parameters) ? Math.max(0, ...[...used].map(Number)) : used.size;
  if (given < needed)
    throw new DatabaseError(
      `the statement has more parameters (${needed}) than values were given (${given})`,
    );
}

function bindings(parameters: Parameters): unknown[] {
  return isByPosition(parameters)
    ? parameters.map(toValue)
    : [Object.fromEntries(Object.entries(parameters).map(([name, cell]) => [name, toValue(cell)]))];
}

function isByPosition(parameters: Parameters): parameters is readonly Cell[] {
  return Array.isArray(parameters);
}

/** As SQLite keeps it: a whole number is an INTEGER, true is 1. */
function toValue(cell: Cell): Value {
  if (typeof cell === "boolean") return cell ? 1n : 0n;
  if (typeof cell === "number") return Number.isSafeInteger(cell) ? BigInt(cell) : cell;
  return cell !== null && typeof cell === "object" ? bytesOf(cell) : cell;
}

function toCell(value: Value): Row[number] {
  if (typeof value === "bigint") return integerCell(value);
  if (typeof value === "number") return floatCell(value);
  return value instanceof Uint8Array ? bytesCell(value) : value;
}
