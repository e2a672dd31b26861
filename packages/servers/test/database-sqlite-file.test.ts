/** The file of a SQLite database that is served, when others replace it, remove it, or are killed while they change it. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import type { Readable } from "node:stream";
import { type Client, connect } from "@patchbay/client";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDatabase } from "../src/database/index.ts";
import { answerOf, failureOf } from "./database-client.ts";
import { makeSqliteFile, type SqliteFile } from "./sqlite.ts";

let file: SqliteFile;
let client: Client;

beforeEach(async () => {
  file = makeSqliteFile("CREATE TABLE t (a); INSERT INTO t VALUES (1)");
  client = await connect(createDatabase({ database: file.file, allowExecute: true }), {
    onElicit: () => ({ action: "accept", content: { run: true } }),
  });
});
afterEach(async () => {
  await client.close();
  file.remove();
});

const rows = async () => (await answerOf(client, "query", { sql: "SELECT a FROM t" })).rows;

it("reads the file that has the name now", async () => {
  expect(await rows()).toEqual([[1]]);
  const other = makeSqliteFile("CREATE TABLE t (a); INSERT INTO t VALUES (2)");
  renameSync(other.file, file.file);
  other.remove();
  expect(await rows()).toEqual([[2]]);
  await answerOf(client, "execute", { sql: "UPDATE t SET a = 3" });
  expect(await rows()).toEqual([[3]]);
});

it("makes no new file where there is none any longer", async () => {
  await rows();
  rmSync(file.file);
  expect(await failureOf(client, "query", { sql: "SELECT 1" })).toBe(
    "the file of the database is not there any longer",
  );
  expect(await failureOf(client, "execute", { sql: "CREATE TABLE u (a)" })).toContain("not there any longer");
  expect(existsSync(file.file)).toBe(false);
});

it("undoes what a program left half done that was killed, and reads what was there before", async () => {
  const sqlite = createRequire(import.meta.url).resolve("@photostructure/sqlite");
  // So much is changed that some of it is in the file already.
  const change =
    "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 2000) INSERT INTO t SELECT zeroblob(1000) FROM n";
  const program = `
    const db = new (require(${JSON.stringify(sqlite)}).DatabaseSync)(${JSON.stringify(file.file)});
    db.exec("PRAGMA cache_size = 5; BEGIN; UPDATE t SET a = 9; ${change}");
    process.stdout.write("changed");
    setInterval(() => {}, 1000);`;
  const other = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  await once(other.stdout as Readable, "data");
  other.kill("SIGKILL");
  await once(other, "exit");
  expect(existsSync(`${file.file}-journal`)).toBe(true);
  expect(await rows()).toEqual([[1]]);
});
