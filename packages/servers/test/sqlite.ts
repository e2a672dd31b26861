/** A SQLite database in a folder of its own, for tests. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";

export interface SqliteFile {
  folder: string;
  file: string;
  /** Runs SQL as its owner would. */
  run(sql: string): void;
  /** One row, as its owner sees it. */
  row(sql: string): unknown;
  remove(): void;
}

export function makeSqliteFile(sql: string): SqliteFile {
  const folder = mkdtempSync(join(tmpdir(), "patchbay-sqlite-"));
  const file = join(folder, "shop.db");
  const within = <T>(use: (db: InstanceType<typeof DatabaseSync>) => T): T => {
    const db = new DatabaseSync(file);
    try {
      return use(db);
    } finally {
      db.close();
    }
  };
  within((db) => db.exec(sql));
  return {
    folder,
    file,
    run: (sql) => within((db) => db.exec(sql)),
    row: (sql) => within((db) => ({ ...db.prepare(sql).get() })),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
