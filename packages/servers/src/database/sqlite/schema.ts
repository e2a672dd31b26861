/** What tables there are in a SQLite database, and of what they are made. */

import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import type { ColumnDescription, ForeignKey, Index, TableDescription, TableName } from "../database.ts";

/** Tables and views but SQLite's own, and the shadows of virtual tables. */
const TABLES = `
  SELECT name, CASE type WHEN 'virtual' THEN 'virtual table' ELSE type END AS kind
  FROM pragma_table_list
  WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

/** @param most one more is given where there are more */
export function listTables(db: DatabaseSyncInstance, most: number): TableName[] {
  return all<[string, string]>(db, `${TABLES} ORDER BY name LIMIT ?`, BigInt(most) + 1n).map(
    ([name, kind]) => ({
      name,
      kind,
    }),
  );
}

/** Names are as in SQL: their case does not matter. */
export function describeTable(db: DatabaseSyncInstance, table: string): TableDescription | null {
  const [found] = all<[string, string]>(db, `${TABLES} AND name = ? COLLATE NOCASE`, table);
  if (found === undefined) return null;
  const [name, kind] = found;
  const [definition] = all<[string | null]>(db, "SELECT sql FROM sqlite_schema WHERE name = ?", name);
  const columns = all<ColumnRow>(db, "SELECT * FROM pragma_table_xinfo(?) ORDER BY cid", name);
  return {
    name,
    kind,
    columns: columns.filter(([, , , , , , hidden]) => hidden !== 1n).map(toColumn),
    primaryKey: columns
      .filter(([, , , , , key]) => key > 0n)
      .sort(([, , , , , a], [, , , , , b]) => Number(a - b))
      .map(([, column]) => column),
    foreignKeys: foreignKeysOf(db, name),
    indexes: indexesOf(db, name),
    definition: definition?.[0] ?? undefined,
  };
}

/** 1 is a hidden column of a virtual table; 2 and 3 are generated ones. */
type ColumnRow = [
  cid: bigint,
  name: string,
  type: string,
  notNull: bigint,
  value: string | null,
  key: bigint,
  hidden: bigint,
];

function toColumn([, name, type, notNull, value, , hidden]: ColumnRow): ColumnDescription {
  return {
    name,
    type: type === "" ? "any" : type,
    nullable: notNull === 0n,
    default: value ?? undefined,
    generated: hidden > 1n ? "as the definition says" : undefined,
  };
}

function foreignKeysOf(db: DatabaseSyncInstance, table: string): ForeignKey[] {
  const parts = all<[bigint, string, string, string | null]>(
    db,
    'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq',
    table,
  );
  const keys = new Map<bigint, ForeignKey>();
  for (const [id, other, from, to] of parts) {
    const key = keys.get(id) ?? { columns: [], references: { table: other, columns: [] } };
    key.columns.push(from);
    // Without a name it is the other table's primary key.
    if (to !== null) key.references.columns.push(to);
    keys.set(id, key);
  }
  return [...keys.values()];
}

function indexesOf(db: DatabaseSyncInstance, table: string): Index[] {
  return all<[string, bigint]>(
    db,
    'SELECT name, "unique" FROM pragma_index_list(?) ORDER BY name',
    table,
  ).map(([name, unique]) => ({
    name,
    unique: unique === 1n,
    columns: all<[string | null]>(db, "SELECT name FROM pragma_index_info(?) ORDER BY seqno", name).map(
      ([column]) => column,
    ),
  }));
}

function all<Row>(db: DatabaseSyncInstance, sql: string, ...values: (string | bigint)[]): Row[] {
  return db.prepare(sql).all(...values) as Row[];
}
