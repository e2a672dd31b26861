/** One statement of others, run in PostgreSQL within its bounds. */

import type { FieldDef, QueryArrayResult } from "pg";
import type { Changes, Rows, Statement } from "../database.ts";
import { DatabaseError, type DatabaseLimits, limitExceeded } from "../limits.ts";
import { RowBudget, rowTooLarge } from "../row-budget.ts";
import { bytesCell, bytesOf, type Cell, type Column, floatCell, integerCell, type Row } from "../values.ts";
import type { Session } from "./session.ts";
import { shifted } from "./trouble.ts";

type Bounds = Pick<DatabaseLimits, "maxBytes">;
type Texts = (string | null)[];

/** The first row is fetched alone, then so many times as many each time. */
const GROWTH = 4;

/** Nothing but a SELECT, its kin (VALUES, TABLE), and a WITH that only reads can be the query of a cursor. */
const CURSOR = "DECLARE patchbay NO SCROLL CURSOR FOR ";

/** What may stand before the statement that is explained. (ANALYZE runs it; and CREATE TABLE AS even where nothing may write.) */
const EXPLAIN = /^(?:--.*\n\s*)*explain\b\s*(?:\([\w\s,]*\)|(?:analy[sz]e\b)?\s*(?:verbose\b)?)\s*/i;

/** Reads the first rows: the server keeps the rest. */
export async function readRows(session: Session, statement: Statement, bounds: Bounds): Promise<Rows> {
  const { sql, parameters, maxRows } = statement;
  const values = valuesOf(parameters as readonly Cell[]);
  const budget = new RowBudget(maxRows, bounds);
  const explain = EXPLAIN.exec(sql)?.[0] ?? "";
  await session.run(CURSOR + sql.slice(explain.length), values).catch((error: unknown) => {
    throw notReading(shifted(error, CURSOR.length - explain.length));
  });
  if (explain !== "") {
    const { fields, rows } = await session.run(sql, values);
    return answer(session, fields, rows, budget);
  }
  let columns: Column[] = [];
  for (let batch = 1; budget.cutBy === undefined; batch *= GROWTH) {
    const count = Math.min(batch, budget.wanted);
    const result = await fetchRows(session, count);
    // So large are these that the connection had to be given up.
    if (result === undefined) {
      if (batch === 1) throw rowTooLarge(bounds);
      return { columns, rows: budget.rows, cutBy: "maxBytes" };
    }
    const { fields, rows } = result;
    if (batch === 1) columns = await columnsOf(session, fields);
    const types = fields.map(({ dataTypeID }) => dataTypeID);
    if (!rows.every((row) => budget.take(toRow(row, types))) || rows.length < count) break;
  }
  return { columns, rows: budget.rows, cutBy: budget.cutBy };
}

async function fetchRows(session: Session, count: number): Promise<QueryArrayResult<Texts> | undefined> {
  try {
    return await session.run(`FETCH FORWARD ${count} FROM patchbay`);
  } catch (error) {
    if (session.flooded) return undefined;
    throw error;
  }
}

/** Runs a statement that changes something. */
export async function runOnce(session: Session, statement: Statement, bounds: Bounds): Promise<Changes> {
  const { sql, parameters, maxRows } = statement;
  // Only a role that the operator allowed all the same gets so far, and a program is not rolled back.
  if (/\bcopy\b[\s\S]*\bprogram\b/i.test(sql)) throw new DatabaseError("COPY … PROGRAM is not allowed here");
  const result = await session.run(sql, valuesOf(parameters as readonly Cell[])).catch((error: unknown) => {
    if (!session.flooded) throw error;
    const advice = "nothing was changed; let it give back fewer rows or columns";
    throw limitExceeded("maxBytes", bounds, "what the statement gives back has more bytes", advice);
  });
  if (ENDS_TRANSACTION.has(result.command)) {
    throw new DatabaseError(
      `${result.command} is not allowed here: each statement has a transaction of its own`,
    );
  }
  // What it copies out would be lost.
  if (result.command === "COPY") throw new DatabaseError("COPY is not allowed here: use SELECT or INSERT");
  const rows = await answer(session, result.fields, result.rows, new RowBudget(maxRows, bounds));
  return { ...rows, changes: COUNTED.has(result.command) ? result.rowCount : null };
}

const ENDS_TRANSACTION = new Set(["BEGIN", "START", "COMMIT", "ROLLBACK", "PREPARE"]);
const COUNTED = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

async function answer(
  session: Session,
  fields: readonly FieldDef[],
  rows: readonly Texts[],
  budget: RowBudget,
): Promise<Rows> {
  const types = fields.map(({ dataTypeID }) => dataTypeID);
  rows.every((row) => budget.take(toRow(row, types)));
  return { columns: await columnsOf(session, fields), rows: budget.rows, cutBy: budget.cutBy };
}

/** Columns with the names of their types, which only the server knows. */
async function columnsOf(session: Session, fields: readonly FieldDef[]): Promise<Column[]> {
  const oids = fields.map(({ dataTypeID }) => dataTypeID);
  const modifiers = fields.map(({ dataTypeModifier }) => dataTypeModifier);
  const { rows } = await session.run(
    "SELECT format_type(oid, modifier) FROM unnest($1::oid[], $2::int[]) WITH ORDINALITY AS t (oid, modifier, n) ORDER BY n",
    [`{${oids.join()}}`, `{${modifiers.join()}}`],
  );
  return fields.map(({ name }, index) => ({ name, type: rows[index]?.[0] ?? null }));
}

/** What a cursor cannot be declared for gets a syntax error; what it means is said. */
function notReading(error: unknown): unknown {
  const { code, message = "" } = error as { code?: string; message?: string };
  const tooMany = code === "42601" && message.includes("multiple commands");
  if (tooMany)
    return new DatabaseError("only one statement is run at a time, and nothing may follow its semicolon");
  if (code === "42601") {
    const advice = "query runs SELECT, WITH … SELECT, VALUES, TABLE or EXPLAIN, and nothing else";
    return new DatabaseError(`${message}; ${advice}`, { cause: error });
  }
  return error;
}

function valuesOf(parameters: readonly Cell[]): unknown[] {
  return parameters.map((cell) => {
    if (cell === null || typeof cell === "string") return cell;
    return typeof cell === "object" ? bytesOf(cell) : String(cell);
  });
}

function toRow(texts: Texts, types: readonly number[]): Row {
  return texts.map((text, index) => (text === null ? null : toCell(text, types[index] ?? 0)));
}

/** By the type's number in pg_type; all others are text already: numeric, dates, arrays, JSON. */
function toCell(text: string, type: number): Cell {
  switch (type) {
    case 16:
      return text === "t";
    case 20:
    case 21:
    case 23:
    case 26:
      return integerCell(BigInt(text));
    case 700:
    case 701:
      return floatCell(Number(text));
    case 17:
      return bytesCell(Buffer.from(text.slice(2), "hex"));
    default:
      return text;
  }
}
