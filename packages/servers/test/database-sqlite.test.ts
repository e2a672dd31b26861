/** The database server over a file of SQLite's: what it tells, what it bounds, and what nobody gets it to do. */

import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, connect } from "@patchbay/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase } from "../src/database/index.ts";
import { Answers } from "../src/database/sqlite/answers.ts";
import { answerOf, failureOf } from "./database-client.ts";
import { makeSqliteFile, type SqliteFile } from "./sqlite.ts";

const ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT";

let shop: SqliteFile;
let client: Client;

beforeAll(async () => {
  shop = makeSqliteFile(`
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE);
    CREATE TABLE orders (
      id INTEGER PRIMARY KEY,
      customer INTEGER NOT NULL REFERENCES customers (id),
      cents INTEGER NOT NULL DEFAULT 0,
      euros GENERATED ALWAYS AS (cents / 100.0)
    );
    CREATE INDEX orders_of ON orders (customer, cents DESC);
    CREATE VIEW sums AS SELECT customer, sum(cents) AS cents FROM orders GROUP BY customer;
    CREATE VIRTUAL TABLE notes USING fts5 (text);
    INSERT INTO customers VALUES (1, 'Ada', 'ada@example.com'), (2, 'Bob', NULL);
    INSERT INTO orders (customer, cents) VALUES (1, 1250), (1, 300), (2, 9900);
    INSERT INTO notes VALUES ('call Ada back');
  `);
  client = await connect(createDatabase({ database: shop.file, allowExecute: true }), {
    onElicit: () => ({ action: "accept", content: { run: true } }),
  });
});
afterAll(async () => {
  await client.close();
  shop.remove();
});

const query = (sql: string, parameters?: unknown) => answerOf(client, "query", { sql, parameters });
const refusal = (sql: string, parameters?: unknown) => failureOf(client, "query", { sql, parameters });

describe("the schema", () => {
  it("lists tables, views and virtual tables, and none of SQLite's own", async () => {
    expect(await answerOf(client, "list_tables", {})).toEqual({
      tables: [
        { name: "customers", kind: "table" },
        { name: "notes", kind: "virtual table" },
        { name: "orders", kind: "table" },
        { name: "sums", kind: "view" },
      ],
      truncated: false,
    });
  });

  it("describes a table", async () => {
    expect(await answerOf(client, "describe_table", { table: "ORDERS" })).toEqual({
      name: "orders",
      kind: "table",
      columns: [
        { name: "id", type: "INTEGER", nullable: true },
        { name: "customer", type: "INTEGER", nullable: false },
        { name: "cents", type: "INTEGER", nullable: false, default: "0" },
        { name: "euros", type: "any", nullable: true, generated: "as the definition says" },
      ],
      primaryKey: ["id"],
      foreignKeys: [{ columns: ["customer"], references: { table: "customers", columns: ["id"] } }],
      indexes: [{ name: "orders_of", unique: false, columns: ["customer", "cents"] }],
      definition: expect.stringMatching(/^CREATE TABLE orders \(/),
    });
  });

  it("suggests the nearest name", async () => {
    expect(await failureOf(client, "describe_table", { table: "custmers" })).toBe(
      'there is no table "custmers"; did you mean "customers"?',
    );
  });

  it("is there as resources, whose names are completed", async () => {
    const [tables] = (await client.readResource("database://tables")).contents;
    expect(JSON.parse((tables as { text: string }).text)).toHaveLength(4);
    const [table] = (await client.readResource("database://table/sums")).contents;
    expect(JSON.parse((table as { text: string }).text)).toMatchObject({ name: "sums", kind: "view" });
    await expect(client.readResource("database://table/none")).rejects.toThrow("Resource not found");
    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri: "database://table/{table}" },
      argument: { name: "table", value: "s" },
    });
    expect(completion.values).toEqual(["sums", "customers", "notes", "orders"]);
  });

  it("says what it may do to a model, and to a host", async () => {
    const tools = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ["list_tables", true],
      ["describe_table", true],
      ["query", true],
      ["execute", false],
    ]);
    expect(tools.every(({ title, outputSchema }) => title && outputSchema)).toBe(true);
    expect(client.instructions).toContain("one SQLite database");
  });
});

describe("query", () => {
  it.each([
    ["by position", "name = ? AND id < ?", ["Ada", 5]],
    ["by name", "name = :name AND id < $most", { name: "Ada", most: 5 }],
  ])("takes parameters %s", async (_how, where, parameters) => {
    expect(await query(`SELECT id, email FROM customers WHERE ${where}`, parameters)).toEqual({
      columns: [
        { name: "id", type: "INTEGER" },
        { name: "email", type: "TEXT" },
      ],
      rows: [[1, "ada@example.com"]],
      truncated: false,
    });
  });

  it.each([
    ["an integer beyond 2^53", "9223372036854775807", "9223372036854775807"],
    ["the largest exact integer", "9007199254740991", 9007199254740991],
    ["a float", "0.1 + 0.2", 0.30000000000000004],
    ["infinity", "-1e999", "-Infinity"],
    ["minus zero", "-0.0", "-0"],
    ["NULL", "NULL", null],
    ["bytes", "x'00ff10'", { base64: "AP8Q" }],
    ["text", "'naïve 🙂'", "naïve 🙂"],
    ["a date, which is text", "date('2026-07-28')", "2026-07-28"],
  ])("gives %s whole", async (_what, sql, value) => {
    expect((await query(`SELECT ${sql}`)).rows).toEqual([[value]]);
  });

  it.each([
    ["a number", 5, [5, "integer"]],
    ["a fraction", 0.5, [0.5, "real"]],
    ["true", true, [1, "integer"]],
    ["null", null, [null, "null"]],
    ["text", "5", ["5", "text"]],
    ["bytes", { base64: "AAE=" }, [{ base64: "AAE=" }, "blob"]],
  ])("takes %s as it is meant", async (_what, value, row) => {
    expect((await query("SELECT ?1, typeof(?1)", [value])).rows).toEqual([row]);
  });

  it("keeps columns of one name apart", async () => {
    expect(await query("SELECT 1 AS x, 2 AS x")).toMatchObject({ rows: [[1, 2]] });
  });

  it.each([
    "EXPLAIN QUERY PLAN SELECT * FROM orders",
    "-- explained\n/* well */ EXPLAIN SELECT * FROM orders",
    "VALUES (1), (2)",
    "SELECT 1 -- one;\n;",
    "SELECT ';' /* open",
  ])("takes %j", async (sql) => {
    expect((await query(sql)).rows.length).toBeGreaterThan(0);
  });

  it.each([
    [
      "too few values",
      "SELECT ?, ?",
      [1],
      "the statement has more parameters (2) than values were given (1)",
    ],
    ["a name that is missing", "SELECT :a, :b", { a: 1 }, "the statement has more parameters (2)"],
    ["too many values", "SELECT ?", [1, 2], "more values were given than the statement has parameters"],
    ["a name that is unknown", "SELECT :a", { a: 1, b: 2 }, "Unknown named parameter 'b'"],
    ["what is no SQL", "SELEC 1", undefined, 'near "SELEC": syntax error'],
    ["a column that is not there", "SELECT nam FROM customers", undefined, "no such column: nam"],
    ["nothing", " ; ", undefined, "there is no statement in the text"],
  ])("says what is wrong: %s", async (_what, sql, parameters, message) => {
    expect(await refusal(sql, parameters)).toContain(message);
  });

  it("searches full texts", async () => {
    expect((await query("SELECT text FROM notes WHERE notes MATCH ?", ["ada"])).rows).toEqual([
      ["call Ada back"],
    ]);
  });

  it("works on a database in WAL mode that another program writes to", async () => {
    const wal = makeSqliteFile("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    const other = await connect(createDatabase({ database: wal.file }));
    expect((await answerOf(other, "query", { sql: "SELECT * FROM t" })).rows).toEqual([[1]]);
    wal.run("INSERT INTO t VALUES (2)");
    expect((await answerOf(other, "query", { sql: "SELECT count(*) FROM t" })).rows).toEqual([[2]]);
    await other.close();
    wal.remove();
  });
});

describe("what is bounded", () => {
  it("answers the first rows, and says that there are more", async () => {
    const answer = await answerOf(client, "query", { sql: `${ENDLESS} x FROM n`, max_rows: 3 });
    expect(answer).toMatchObject({ rows: [[1], [2], [3]], truncated: true });
    expect(answer.notice).toMatch(/^These are the first 3 rows\. There are more: /);
    const all = await answerOf(client, "query", { sql: "VALUES (1), (2), (3)", max_rows: 3 });
    expect(all.truncated).toBe(false);
  });

  it.each([
    [
      "maxBytes",
      { maxBytes: 100 },
      "SELECT hex(zeroblob(100))",
      "a row has more bytes than maxBytes allows (100)",
    ],
    [
      "maxSqlLength",
      { maxSqlLength: 10 },
      "SELECT 123456",
      "the statement has more characters than maxSqlLength",
    ],
    ["timeout", { timeout: 300 }, `${ENDLESS} count(*) FROM n`, "took longer than timeout allows (300 ms)"],
    [
      "maxMemoryBytes",
      { maxMemoryBytes: 1 },
      `${ENDLESS} max(x) FROM n`,
      "took more memory than maxMemoryBytes",
    ],
  ])("names %s", async (_name, limits, sql, message) => {
    const bounded = await connect(createDatabase({ database: shop.file, ...limits }));
    expect(await failureOf(bounded, "query", { sql })).toContain(message);
    await bounded.close();
  });

  it("cuts an answer off at maxBytes", async () => {
    const bounded = await connect(createDatabase({ database: shop.file, maxBytes: 100 }));
    const answer = await answerOf(bounded, "query", { sql: `${ENDLESS} hex(zeroblob(20)) FROM n` });
    expect(answer.rows).toHaveLength(2);
    expect(answer.notice).toContain("maxBytes allows no more (100)");
    await bounded.close();
  });

  it("goes on after a statement was killed", async () => {
    const bounded = await connect(createDatabase({ database: shop.file, timeout: 2000, maxConnections: 1 }));
    await failureOf(bounded, "query", { sql: `${ENDLESS} count(*) FROM n` });
    expect((await answerOf(bounded, "query", { sql: "SELECT 1" })).rows).toEqual([[1]]);
    await bounded.close();
  });

  it("kills the statement of a call that is cancelled, and lets the next one in", async () => {
    const bounded = await connect(
      createDatabase({ database: shop.file, timeout: 600_000, maxConnections: 1, maxWaiting: 1 }),
    );
    const cancel = new AbortController();
    const endless = { sql: `${ENDLESS} count(*) FROM n` };
    const running = bounded.callTool("query", endless, {
      signal: cancel.signal,
      // It is told that it runs; so it does when it is cancelled.
      onProgress: () => cancel.abort(),
    });
    const waiting = bounded.callTool("query", { sql: "SELECT 1" });
    expect(await failureOf(bounded, "query", { sql: "SELECT 2" })).toContain("than maxWaiting allows (1)");
    await expect(running).rejects.toThrow();
    expect((await waiting).structuredContent).toMatchObject({ rows: [[1]] });
    await bounded.close();
  });

  it.each(["timeout", "maxRows", "maxConnections"])("refuses a %s that cannot be right", (name) => {
    expect(() => createDatabase({ database: shop.file, [name]: 0 })).toThrow(
      `${name} of the database server`,
    );
  });
});

describe("what query does not do", () => {
  const more = "query only reads (SELECT, WITH … SELECT, VALUES, EXPLAIN), and this statement does more";

  it.each([
    ["INSERT INTO customers VALUES (9, 'Eve', NULL)", more],
    ["WITH x AS (SELECT 9) INSERT INTO customers SELECT 9, 'Eve', NULL RETURNING id", more],
    ["UPDATE customers SET name = 'Eve'", more],
    ["DELETE FROM customers", more],
    ["EXPLAIN DELETE FROM customers", more],
    ["CREATE TABLE evil (a)", more],
    ["CREATE TEMP TABLE evil (a)", more],
    ["DROP TABLE customers", more],
    ["ALTER TABLE customers ADD evil", more],
    ["ANALYZE", more],
    ["REINDEX", "query only reads"],
    ["VACUUM", "query only reads: SELECT"],
    ["BEGIN IMMEDIATE", `${more}: BEGIN, COMMIT or ROLLBACK`],
    ["SAVEPOINT evil", `${more}: SAVEPOINT`],
    ["PRAGMA query_only = OFF", `${more}: PRAGMA`],
    ["PRAGMA writable_schema = ON", `${more}: PRAGMA`],
    ["SELECT * FROM pragma_database_list", `${more}: PRAGMA`],
    ["ATTACH 'evil.db' AS evil", `${more}: ATTACH`],
    ["DETACH main", `${more}: DETACH`],
    ["SELECT load_extension('evil')", `${more}: load_extension()`],
    ["SELECT Load_Extension('evil', 'x')", `${more}: load_extension()`],
    ["SELECT fts3_tokenizer('simple', x'00')", `${more}: fts3_tokenizer()`],
    ["SELECT 1; DROP TABLE customers", "only one statement is run at a time"],
    ["SELECT 1/**/;/**/DROP TABLE customers", "only one statement is run at a time"],
    ["SELECT 1\0; DROP TABLE customers", "the statement holds a NUL character"],
    ["SELECT readfile('/etc/passwd')", "no such function: readfile"],
    ["SELECT writefile('evil', 'x')", "no such function: writefile"],
    ["INSERT INTO notes (notes) VALUES ('rebuild')", more],
  ])("%s", async (sql, message) => {
    const before = shop.row("SELECT group_concat(name) AS names, total(rowid) AS rows FROM customers");
    expect(await refusal(sql)).toContain(message);
    expect(shop.row("SELECT group_concat(name) AS names, total(rowid) AS rows FROM customers")).toEqual(
      before,
    );
    expect(shop.row("SELECT count(*) AS n FROM sqlite_schema WHERE name = 'evil'")).toEqual({ n: 0 });
  });

  it.each(["VACUUM INTO", "ATTACH"])("makes no file: %s", async (verb) => {
    const target = join(shop.folder, "evil.db");
    await refusal(`${verb} '${target}'${verb === "ATTACH" ? " AS evil" : ""}`);
    await refusal(`${verb} 'file:${target}?mode=rwc'${verb === "ATTACH" ? " AS evil" : ""}`);
    expect(existsSync(target)).toBe(false);
    expect(readdirSync(shop.folder)).toEqual(["shop.db"]);
  });

  it("opens the file so that, whatever may be asked, nothing is written", () => {
    const bounds = { busyTimeout: 0, maxBytes: 1000, maxTables: 1, maxMemoryBytes: 1 };
    const answers = new Answers({ file: shop.file, writes: false, ...bounds });
    const statement = { sql: "DELETE FROM orders", parameters: [], maxRows: 1 };
    expect(answers.reply({ do: "execute", statement })).toEqual({
      error: "attempt to write a readonly database",
    });
    answers.close();
  });

  it("has no such value in memory as could fill it", async () => {
    expect(await refusal("SELECT length(zeroblob(900000000))")).toContain("string or blob too big");
  });

  it("tells nobody where the file is", async () => {
    const gone = makeSqliteFile("CREATE TABLE t (a)");
    const other = await connect(createDatabase({ database: gone.file }));
    gone.remove();
    const failure = await failureOf(other, "query", { sql: "SELECT 1" });
    expect(failure).toBe("the file of the database is not there any longer");
    expect((await client.listTools()).map((tool) => JSON.stringify(tool)).join()).not.toContain(shop.folder);
    await other.close();
  });
});

describe("execute", () => {
  const execute = (sql: string, parameters?: unknown) => answerOf(client, "execute", { sql, parameters });

  it("changes, and says what", async () => {
    expect(
      await execute("INSERT INTO customers (name) VALUES (?), (?) RETURNING id, name", ["Cy", "Di"]),
    ).toMatchObject({ changes: 2, lastInsertRowid: 4, rows: [[3, "Cy"], [4, "Di"]] }); // biome-ignore format: rows
    expect(await execute("UPDATE customers SET email = NULL WHERE id > ?", [2])).toMatchObject({
      changes: 2,
    });
    expect(await execute("CREATE TABLE drafts (a)")).toMatchObject({ changes: 0, rows: [] });
    expect(await execute("DROP TABLE drafts")).toMatchObject({ changes: 0 });
    expect(shop.row("SELECT count(*) AS n FROM customers")).toEqual({ n: 4 });
  });

  it("runs a statement to its end when its rows are too many to answer", async () => {
    const answer = await answerOf(client, "execute", {
      sql: `INSERT INTO notes ${ENDLESS} x FROM n LIMIT 500 RETURNING rowid`,
      max_rows: 2,
    });
    expect(answer).toMatchObject({ changes: 500, truncated: true });
    expect(answer.rows).toHaveLength(2);
    expect(shop.row("SELECT count(*) AS n FROM notes")).toEqual({ n: 501 });
  });

  it("does nothing where it fails", async () => {
    const sql = "INSERT INTO orders (customer) VALUES (1), (404)";
    expect(await failureOf(client, "execute", { sql })).toBe("FOREIGN KEY constraint failed");
    expect(shop.row("SELECT count(*) AS n FROM orders")).toEqual({ n: 3 });
  });

  it("does nothing where time is up", async () => {
    const bounded = await connect(
      createDatabase({ database: shop.file, allowExecute: true, timeout: 1000 }),
      {
        onElicit: () => ({ action: "accept", content: { run: true } }),
      },
    );
    const sql = `INSERT INTO customers (name) ${ENDLESS} hex(zeroblob(5000)) FROM n`;
    expect(await failureOf(bounded, "execute", { sql })).toContain("than timeout allows (1,000 ms)");
    // Half of it is in the file by now; who may only read could not take it back.
    const left = { sql: "SELECT count(*) FROM customers WHERE length(name) > 1000" };
    expect((await answerOf(bounded, "query", left)).rows).toEqual([[0]]);
    await bounded.close();
  });

  it.each([
    ["ATTACH 'evil.db' AS evil", "ATTACH (or VACUUM, which needs it) is not allowed here"],
    ["PRAGMA writable_schema = ON", "PRAGMA is not allowed here"],
    ["COMMIT", "BEGIN, COMMIT or ROLLBACK is not allowed here"],
    ["VACUUM INTO 'evil.db'", "cannot VACUUM"],
    ["INSERT INTO notes SELECT load_extension('evil')", "load_extension() is not allowed here"],
    ["UPDATE sqlite_schema SET sql = 'evil'", "table sqlite_master may not be modified"],
    ["DELETE FROM orders; DELETE FROM customers", "only one statement is run at a time"],
  ])("does not do: %s", async (sql, message) => {
    expect(await failureOf(client, "execute", { sql })).toContain(message);
    expect(shop.row("SELECT count(*) AS n FROM orders")).toEqual({ n: 3 });
  });
});

describe("what an operator may have mistaken", () => {
  it("a file that is not there", () => {
    const file = join(shop.folder, "none.db");
    expect(() => createDatabase({ database: file })).toThrow(`There is no file "${file}"`);
  });

  it("a folder", () => {
    expect(() => createDatabase({ database: shop.folder })).toThrow("is no file");
  });

  it("a file of another kind", () => {
    const file = join(shop.folder, "text.db");
    writeFileSync(file, "a text that is no database");
    expect(() => createDatabase({ database: file })).toThrow("is no database of SQLite's");
  });

  it("a URL of another database, whose password is not told", () => {
    expect(() => createDatabase({ database: "mysql://root:hunter2@db/shop" })).toThrow(
      /^"mysql:" is no database that is known: name a file of SQLite's or a postgres:\/\/ URL$/,
    );
  });
});
