/** Functions with side effects: a transaction that only reads does not stop them, so they are found and refused. */

import { DatabaseError } from "../limits.ts";
import type { Session } from "./session.ts";

/** As PostgreSQL lowers a name: capital letters of ASCII, and no others. */
const lower = (name: string) => `lower(${name}::text COLLATE "C")`;

/**
 * PostgreSQL itself says which functions may have side effects: those that are VOLATILE. Any of them that is called anywhere
 * in the text, be it within a string or a comment, refuses it: so nothing depends on how the text is parsed. It is called by
 * its name, or by that of an aggregate, an operator or a type that it works for. One that takes a single value can be
 * written as if it were a column of it, behind a point.
 */
const CALLED = `
  WITH acting AS MATERIALIZED (
    SELECT oid, proname AS shown, proname, pronargs, pronargdefaults FROM pg_proc
    WHERE (provolatile = 'v' OR proname LIKE 'crosstab%' OR proname IN ('connectby', 'xpath_table'))
      AND prorettype <> 'trigger'::regtype
  ), aggregates AS MATERIALIZED (
    SELECT aggfnoid AS oid, shown FROM pg_aggregate
      CROSS JOIN unnest(ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggmtransfn, aggminvtransfn, aggmfinalfn]) AS part
      JOIN acting ON acting.oid = part
  ), named AS MATERIALIZED (
    SELECT shown, ${lower("proname")} AS name, pronargs, pronargdefaults FROM acting
    UNION ALL
    SELECT shown, ${lower("proname")}, pronargs, pronargdefaults FROM aggregates JOIN pg_proc USING (oid)
  ), casts AS MATERIALIZED (
    SELECT shown, casttarget FROM acting JOIN pg_cast ON castfunc = acting.oid
  )
  SELECT shown FROM named
  WHERE name = ANY ($2) OR (name = ANY ($3) AND pronargs > 0 AND pronargs - pronargdefaults <= 1)
    OR (strpos(name, '"') > 0 AND strpos($4, replace(name, '"', '""')) > 0)
  UNION
  SELECT shown FROM acting JOIN pg_operator ON oprcode = acting.oid WHERE strpos($4, oprname) > 0
  UNION
  SELECT shown FROM casts JOIN pg_type ON pg_type.oid = casttarget WHERE ${lower("typname")} = ANY ($1)`;

/** Volatile since they give something else each time; they change nothing. */
const HARMLESS = new Set([
  "bernoulli",
  "clock_timestamp",
  "gen_random_uuid",
  "pg_current_wal_lsn",
  "pg_database_size",
  "pg_indexes_size",
  "pg_is_in_recovery",
  "pg_relation_size",
  "pg_table_size",
  "pg_tablespace_size",
  "pg_total_relation_size",
  "random",
  "system",
  "timeofday",
]);

/** @throws DatabaseError that names the function */
export async function checkFunctions(session: Session, sql: string): Promise<void> {
  // PostgreSQL takes capital letters for small ones, and no others.
  const text = sql.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  // Written so, a name could be spelled by the codes of its letters.
  if (text.includes('u&"')) throw new DatabaseError('names are written without U&"…" here');
  const { names, calls, columns } = namesIn(text);
  const { rows } = await session.run(CALLED, [...[names, calls, columns].map(arrayOf), text]);
  const name = rows.map(([each]) => each ?? "").find((each) => !HARMLESS.has(each));
  if (name === undefined) return;
  throw new DatabaseError(
    `query only reads, and the function ${name} may do more: PostgreSQL has it as VOLATILE, or it runs SQL that it is given`,
  );
}

/** A `$` belongs to a name, or ends a string before one. */
const WORDS = [/[a-z_\u0080-\uffff][\w$\u0080-\uffff]*/g, /[a-z_\u0080-\uffff][\w\u0080-\uffff]*/g];

/** All that may be a name: words, and what stands between any two double quotes; and how they may be meant. */
function namesIn(text: string): { names: Set<string>; calls: Set<string>; columns: Set<string> } {
  const found = { names: new Set<string>(), calls: new Set<string>(), columns: new Set<string>() };
  const add = (whole: string, start: number, end: number) => {
    const name = cut(whole);
    found.names.add(name);
    if (mayOpen(text, end)) found.calls.add(name);
    if (mayBelong(text, start)) found.columns.add(name);
  };
  for (const word of WORDS) {
    for (const { 0: name, index } of text.matchAll(word)) add(name, index, index + name.length);
  }
  let start = 0;
  for (const piece of text.split('"')) {
    add(piece, start - 1, start + piece.length + 1);
    start += piece.length + 1;
  }
  return found;
}

/** Whether a parenthesis follows, or a comment, behind which there may be one. */
function mayOpen(text: string, from: number): boolean {
  const next = /\s*(?:\(|--|\/\*)/y;
  next.lastIndex = from;
  return next.test(text);
}

/** Whether a point stands before, or a comment, before which there may be one. */
function mayBelong(text: string, from: number): boolean {
  let before = from - 1;
  while (/\s/.test(text.charAt(before))) before--;
  return ".*/".includes(text.charAt(before) || " ") || text.includes("--");
}

/** PostgreSQL takes the first 63 bytes of a name. */
function cut(name: string): string {
  if (name.length < 21) return name;
  const bytes = Buffer.from(name);
  return bytes.length < 64 ? name : bytes.toString("utf8", 0, 63).replace(/\ufffd+$/, "");
}

/** As PostgreSQL writes an array of texts. */
function arrayOf(names: ReadonlySet<string>): string {
  return `{${[...names].map((name) => `"${name.replaceAll(/["\\]/g, "\\$&")}"`).join()}}`;
}
