/** What tables there are in a PostgreSQL database, as far as the role may read them, and of what they are made. */

import type { TableDescription, TableName } from "../database.ts";
import type { Session } from "./session.ts";

const KINDS = `CASE relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table'
  WHEN 'p' THEN 'partitioned table' ELSE 'table' END`;

const TABLES = `
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
    AND nspname NOT IN ('pg_catalog', 'information_schema') AND nspname !~ '^pg_(toast|temp)'
    AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')`;

/** @param most one more is given where there are more */
export async function listTables(session: Session, most: number): Promise<TableName[]> {
  const { rows } = await session.run(
    `SELECT relname, nspname, ${KINDS}, obj_description(c.oid, 'pg_class') ${TABLES}
     ORDER BY nspname, relname LIMIT $1`,
    [most + 1],
  );
  return rows.map(([name, schema, kind, comment]) => ({
    name: name ?? "",
    schema: schema ?? "",
    kind: kind ?? "",
    comment: comment ?? undefined,
  }));
}

/** Without a schema: the one that SQL would mean, else any that has such a table. */
export async function describeTable(
  session: Session,
  table: string,
  schema: string | undefined,
): Promise<TableDescription | undefined> {
  const { rows } = await session.run(
    `SELECT json_strip_nulls(json_build_object(
       'name', relname, 'schema', nspname, 'kind', ${KINDS},
       'comment', obj_description(c.oid, 'pg_class'),
       'estimatedRows', CASE WHEN reltuples >= 0 THEN reltuples END,
       'definition', CASE WHEN relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END)),
       ${COLUMNS}, ${PRIMARY_KEY}, ${FOREIGN_KEYS}, ${INDEXES}
     ${TABLES} AND relname = $1 AND ($2::text IS NULL OR nspname = $2)
     ORDER BY pg_table_is_visible(c.oid) DESC, nspname LIMIT 1`,
    [table, schema ?? null],
  );
  const [found] = rows;
  if (found === undefined) return undefined;
  const [about, columns, primaryKey, foreignKeys, indexes] = found.map((text) => JSON.parse(text ?? "[]"));
  return { ...about, columns, primaryKey, foreignKeys, indexes };
}

const COLUMNS = `(
  SELECT json_agg(json_strip_nulls(json_build_object(
    'name', attname, 'type', format_type(atttypid, atttypmod), 'nullable', NOT attnotnull,
    'default', CASE WHEN attgenerated = '' THEN pg_get_expr(adbin, adrelid) END,
    'generated', CASE WHEN attgenerated <> '' THEN pg_get_expr(adbin, adrelid)
      WHEN attidentity <> '' THEN 'as identity' END,
    'comment', col_description(attrelid, attnum))) ORDER BY attnum)
  FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped)`;

/** The names of some columns, in the order of their numbers. */
const named = (table: string, numbers: string) => `(
  SELECT json_agg(attname ORDER BY place)
  FROM unnest(${numbers}) WITH ORDINALITY AS k (number, place)
  LEFT JOIN pg_attribute ON attrelid = ${table} AND attnum = number AND attnum > 0)`;

const PRIMARY_KEY = `(
  SELECT ${named("c.oid", "conkey")} FROM pg_constraint WHERE conrelid = c.oid AND contype = 'p')`;

const FOREIGN_KEYS = `(
  SELECT json_agg(json_build_object('columns', ${named("conrelid", "conkey")},
    'references', json_build_object('schema', fn.nspname, 'table', f.relname,
      'columns', ${named("confrelid", "confkey")})) ORDER BY conname)
  FROM pg_constraint JOIN pg_class f ON f.oid = confrelid JOIN pg_namespace fn ON fn.oid = f.relnamespace
  WHERE conrelid = c.oid AND contype = 'f')`;

const INDEXES = `(
  SELECT json_agg(json_build_object('name', i.relname, 'unique', indisunique,
    'columns', ${named("c.oid", "indkey::int2[]")}) ORDER BY i.relname)
  FROM pg_index JOIN pg_class i ON i.oid = indexrelid WHERE indrelid = c.oid)`;
