/** The database server over PostgreSQL: what it tells, what it bounds, and what nobody gets it to do. */

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "@patchbay/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { createDatabase, type DatabaseOptions } from "../src/database/index.ts";
import { answerOf, failureOf } from "./database-client.ts";
import { type Cluster, startCluster } from "./postgres.ts";

needs("postgres")("a database of PostgreSQL's", () => {
  let cluster: Cluster;
  let client: Client;

  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.run(`
      CREATE ROLE reader LOGIN; CREATE ROLE outsider LOGIN; CREATE ROLE filer LOGIN; CREATE ROLE climber LOGIN;
      GRANT pg_read_server_files TO filer; GRANT owner TO climber;
      CREATE SCHEMA shop;
      CREATE TABLE shop.customers (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL DEFAULT 'nobody', UNIQUE (name)
      );
      COMMENT ON TABLE shop.customers IS 'Who buys';
      COMMENT ON COLUMN shop.customers.name IS 'As on the bill';
      CREATE TABLE shop.orders (
        number int PRIMARY KEY, customer bigint NOT NULL REFERENCES shop.customers, euros numeric(12, 2),
        cents numeric GENERATED ALWAYS AS (euros * 100) STORED
      );
      CREATE INDEX orders_of ON shop.orders (customer, (euros + 1));
      CREATE VIEW shop.sums AS SELECT customer, sum(euros) AS euros FROM shop.orders GROUP BY customer;
      CREATE TABLE shop.secrets (text text);
      INSERT INTO shop.customers (name) VALUES ('Ada'), ('Bob');
      INSERT INTO shop.orders VALUES (1, 1, 12.50), (2, 2, 99.00);
      CREATE FUNCTION shop.total(c shop.customers) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT 1';
      CREATE FUNCTION shop."Odd name"() RETURNS int LANGUAGE sql VOLATILE AS 'SELECT 1';
      CREATE FUNCTION shop."a""b"() RETURNS int LANGUAGE sql VOLATILE AS 'SELECT 1';
      CREATE FUNCTION shop.tallied(sum bigint, n bigint) RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT 1::bigint';
      CREATE AGGREGATE shop.tally(bigint) (SFUNC = shop.tallied, STYPE = bigint);
      CREATE FUNCTION shop.operated(a int, b int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT 1';
      CREATE OPERATOR shop.<%%> (FUNCTION = shop.operated, LEFTARG = int, RIGHTARG = int);
      CREATE TYPE shop.disguise AS (a int);
      CREATE TYPE shop.disguised_from AS (a int);
      CREATE FUNCTION shop.disguised(a shop.disguised_from) RETURNS shop.disguise LANGUAGE sql VOLATILE AS 'SELECT row(1)::shop.disguise';
      CREATE CAST (shop.disguised_from AS shop.disguise) WITH FUNCTION shop.disguised(shop.disguised_from);
      CREATE FUNCTION shop.doubled(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n * 2';
      GRANT USAGE ON SCHEMA shop TO reader;
      GRANT ALL ON shop.customers, shop.orders, shop.sums TO reader;
      GRANT ALL ON SCHEMA public TO reader;
    `);
    client = await connectAs("reader", { allowExecute: true });
  }, 60_000);
  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });

  function connectAs(role: string, options: DatabaseOptions = {}): Promise<Client> {
    return connect(createDatabase({ database: cluster.url(role), ...options }), {
      onElicit: () => ({ action: "accept", content: { run: true } }),
    });
  }

  const query = (sql: string, parameters?: unknown) => answerOf(client, "query", { sql, parameters });
  const refusal = (sql: string, parameters?: unknown) => failureOf(client, "query", { sql, parameters });

  describe("the schema", () => {
    it("lists what the role may read", async () => {
      expect(await answerOf(client, "list_tables", {})).toEqual({
        tables: [
          { name: "customers", schema: "shop", kind: "table", comment: "Who buys" },
          { name: "orders", schema: "shop", kind: "table" },
          { name: "sums", schema: "shop", kind: "view" },
        ],
        truncated: false,
      });
      const outsider = await connectAs("outsider");
      expect(await answerOf(outsider, "list_tables", {})).toEqual({ tables: [], truncated: false });
      await outsider.close();
    });

    it("describes a table", async () => {
      const orders = {
        name: "orders",
        schema: "shop",
        kind: "table",
        columns: [
          { name: "number", type: "integer", nullable: false },
          { name: "customer", type: "bigint", nullable: false },
          { name: "euros", type: "numeric(12,2)", nullable: true },
          { name: "cents", type: "numeric", nullable: true, generated: "(euros * (100)::numeric)" },
        ],
        primaryKey: ["number"],
        foreignKeys: [
          { columns: ["customer"], references: { schema: "shop", table: "customers", columns: ["id"] } },
        ],
        indexes: [
          { name: "orders_of", unique: false, columns: ["customer", null] },
          { name: "orders_pkey", unique: true, columns: ["number"] },
        ],
      };
      for (const args of [
        { table: "orders" },
        { table: "orders", schema: "shop" },
        { table: "shop.orders" },
      ]) {
        expect(await answerOf(client, "describe_table", args)).toEqual(orders);
      }
    });

    it("has comments, defaults, identities and the definitions of views", async () => {
      expect(await answerOf(client, "describe_table", { table: "customers" })).toMatchObject({
        comment: "Who buys",
        columns: [
          { name: "id", generated: "as identity" },
          { name: "name", default: "'nobody'::text", comment: "As on the bill" },
        ],
      });
      expect(await answerOf(client, "describe_table", { table: "sums" })).toMatchObject({
        kind: "view",
        definition: expect.stringContaining("GROUP BY"),
      });
    });

    it("suggests the nearest name, and knows nothing of what may not be read", async () => {
      expect(await failureOf(client, "describe_table", { table: "customer" })).toContain('mean "customers"?');
      expect(await failureOf(client, "describe_table", { table: "secrets" })).toContain("there is no table");
    });

    it("is there as resources, whose names are completed", async () => {
      const [table] = (await client.readResource("database://table/shop.sums")).contents;
      expect(JSON.parse((table as { text: string }).text)).toMatchObject({ name: "sums", schema: "shop" });
      const { completion } = await client.complete({
        ref: { type: "ref/resource", uri: "database://table/{table}" },
        argument: { name: "table", value: "shop.o" },
      });
      expect(completion.values).toEqual(["shop.orders"]);
    });
  });

  describe("query", () => {
    it("takes parameters, and gives columns with their types", async () => {
      expect(
        await query("SELECT number, euros FROM shop.orders WHERE customer = $1 AND euros > $2", [1, 0.5]),
      ).toEqual({
        columns: [
          { name: "number", type: "integer" },
          { name: "euros", type: "numeric(12,2)" },
        ],
        rows: [[1, "12.50"]],
        truncated: false,
      });
    });

    it.each([
      ["a bigint", "9223372036854775807::bigint", "9223372036854775807"],
      ["an integer", "-7", -7],
      ["a numeric", "1234567890123456789.120", "1234567890123456789.120"],
      ["a float", "0.1::float8 + 0.2::float8", 0.30000000000000004],
      ["a small float", "0.1::float4", 0.1],
      ["NaN", "'NaN'::float8", "NaN"],
      ["infinity", "'-Infinity'::float8", "-Infinity"],
      ["minus zero", "'-0'::float8", "-0"],
      ["a boolean", "true", true],
      ["NULL", "NULL", null],
      ["bytes", "'\\x00ff10'::bytea", { base64: "AP8Q" }],
      ["text", "'naïve 🙂'", "naïve 🙂"],
      ["a date", "date '2026-07-28'", "2026-07-28"],
      ["a date BC", "date '0044-03-15 BC'", "0044-03-15 BC"],
      ["a time of microseconds", "timestamp '2026-07-28 01:02:03.456789'", "2026-07-28 01:02:03.456789"],
      ["an interval", "interval '1 year 2 days'", "1 year 2 days"],
      [
        "JSON, whose numbers may be long",
        `'{"n": 12345678901234567890}'::jsonb`,
        '{"n": 12345678901234567890}',
      ],
      ["an array", "ARRAY[1, NULL, 3]", "{1,NULL,3}"],
    ])("gives %s whole", async (_what, sql, value) => {
      expect((await query(`SELECT ${sql}`)).rows).toEqual([[value]]);
    });

    it("takes values as they are meant", async () => {
      const types = "pg_typeof($1::int)::text, $1::int + 1, $2::text, $3::bytea, $4::bool, $5::int";
      expect((await query(`SELECT ${types}`, [41, "x'; --", { base64: "AP8=" }, true, null])).rows).toEqual([
        ["integer", 42, "x'; --", { base64: "AP8=" }, true, null],
      ]);
    });

    it.each([
      "VALUES (1)",
      "TABLE shop.customers",
      "WITH x AS (SELECT 1) SELECT * FROM x",
      "EXPLAIN SELECT * FROM shop.orders",
      "EXPLAIN (ANALYZE, COSTS OFF) SELECT 1",
      "SELECT random(), shop.doubled(2), pg_relation_size('shop.orders') -- harmless\n;",
      "SELECT c.name AS total FROM shop.customers AS c",
      "SELECT 'call pg_sleep'",
      "SELECT ('a'::text).upper",
      "-- explained\n  EXPLAIN (VERBOSE, COSTS OFF) SELECT 1",
    ])("takes %j", async (sql) => {
      expect((await query(sql)).rows.length).toBeGreaterThan(0);
    });

    it.each([
      ["too few values", "SELECT $1, $2", [1], "supplies 1 parameters, but prepared statement"],
      ["values by name", "SELECT 1", { a: 1 }, "parameters of PostgreSQL are $1, $2"],
      [
        "a column that is not there",
        "SELECT nam FROM shop.customers",
        undefined,
        "(42703) at character 8; Perhaps",
      ],
      [
        "what may not be read",
        "SELECT * FROM shop.secrets",
        undefined,
        "permission denied for table secrets",
      ],
      ["what is no SQL", "SELEC 1", undefined, 'syntax error at or near "SELEC"; query runs SELECT'],
      ["nothing", " ; ", undefined, "there is no statement in the text"],
      ["a NUL", "SELECT 1\0", undefined, "the statement holds a NUL character"],
    ])("says what is wrong: %s", async (_what, sql, parameters, message) => {
      expect(await refusal(sql, parameters)).toContain(message);
    });
  });

  describe("what query does not do", () => {
    it.each([
      ["INSERT INTO shop.customers (name) VALUES ('Eve')", "query runs SELECT"],
      [
        "WITH x AS (INSERT INTO shop.customers (name) VALUES ('Eve') RETURNING id) SELECT * FROM x",
        "must not contain data-modifying",
      ],
      ["EXPLAIN ANALYZE INSERT INTO shop.customers (name) VALUES ('Eve')", "query runs SELECT"],
      ["EXPLAIN (ANALYZE) DELETE FROM shop.customers", "query runs SELECT"],
      ["EXPLAIN ANALYZE CREATE TABLE evil AS SELECT 1", "query runs SELECT"],
      ["EXPLAIN (ANALYZE --) SELECT 1 /*\n) CREATE TABLE evil AS SELECT 1 -- */", "query runs SELECT"],
      ["SELECT * INTO evil FROM shop.customers", "SELECT ... INTO is not allowed here"],
      ["SELECT * FROM shop.customers FOR UPDATE", "read-only transaction"],
      ["CREATE TABLE evil (a int)", "query runs SELECT"],
      ["CREATE TEMP TABLE evil (a int)", "query runs SELECT"],
      ["SELECT 1; DROP TABLE shop.orders", "only one statement is run at a time"],
      ["SELECT 1; COMMIT; DROP TABLE shop.orders", "only one statement is run at a time"],
      ["COMMIT", "query runs SELECT"],
      ["SET TRANSACTION READ WRITE", "query runs SELECT"],
      ["SET statement_timeout = 0", "query runs SELECT"],
      ["RESET ALL", "query runs SELECT"],
      ["COPY shop.customers TO PROGRAM 'id'", "query runs SELECT"],
      ["COPY shop.customers TO '/tmp/evil'", "query runs SELECT"],
      ["DO $$ BEGIN DELETE FROM shop.orders; END $$", "query runs SELECT"],
      ["CALL evil()", "query runs SELECT"],
      ["LISTEN evil", "query runs SELECT"],
      ["PREPARE evil AS DELETE FROM shop.orders", "query runs SELECT"],
      ["VACUUM", "query runs SELECT"],
    ])("%s", async (sql, message) => {
      expect(await refusal(sql)).toContain(message);
      await unchanged();
    });

    it.each([
      ["SELECT pg_read_file('/etc/passwd')", "pg_read_file"],
      ["SELECT PG_Read_File('/etc/passwd')", "pg_read_file"],
      ["SELECT \"pg_read_file\" ('/etc/passwd')", "pg_read_file"],
      ["SELECT pg_catalog.pg_read_file/* x */('/etc/passwd')", "pg_read_file"],
      ["SELECT pg_read_file --\n('/etc/passwd')", "pg_read_file"],
      ["SELECT $$x$$, $a$b$a$||pg_read_file('/etc/passwd')", "pg_read_file"],
      ["SELECT '\"', pg_read_file('/etc/passwd'), '\"'", "pg_read_file"],
      ["SELECT * FROM pg_ls_dir('/')", "pg_ls_dir"],
      ["SELECT pg_read_binary_file('/etc/passwd')", "pg_read_binary_file"],
      ["SELECT lo_import('/etc/passwd')", "lo_import"],
      ["SELECT lo_export(1, '/tmp/evil')", "lo_export"],
      ["SELECT lo_creat(-1)", "lo_creat"],
      ["SELECT lo_from_bytea(0, 'x')", "lo_from_bytea"],
      ["SELECT lo_unlink(1)", "lo_unlink"],
      ["SELECT set_config('transaction_read_only', 'off', true)", "set_config"],
      ["SELECT set_config('statement_timeout', '0', false)", "set_config"],
      ["SELECT set_config('role', 'owner', false)", "set_config"],
      ["SELECT nextval('shop.customers_id_seq')", "nextval"],
      ["SELECT setval('shop.customers_id_seq', 99)", "setval"],
      ["SELECT pg_advisory_lock(1)", "pg_advisory_lock"],
      ["SELECT pg_notify('a', 'b')", "pg_notify"],
      ["SELECT pg_sleep(1)", "pg_sleep"],
      ["SELECT pg_terminate_backend(1)", "pg_terminate_backend"],
      ["SELECT pg_reload_conf()", "pg_reload_conf"],
      ["SELECT pg_switch_wal()", "pg_switch_wal"],
      ["SELECT query_to_xml('DELETE FROM shop.orders', true, true, '')", "query_to_xml"],
      ["SELECT * FROM ts_stat('SELECT 1')", "ts_stat"],
      ["EXPLAIN ANALYZE SELECT pg_sleep(1)", "pg_sleep"],
      ["SELECT c.total FROM shop.customers AS c", "total"],
      ['SELECT c. "total" FROM shop.customers AS c', "total"],
      ["SELECT c./**/total FROM shop.customers AS c", "total"],
      ["SELECT c.--\n total FROM shop.customers AS c", "total"],
      ['SELECT shop."Odd name"()', "Odd name"],
      ['SELECT shop."a""b"()', 'a"b'],
      ["SELECT (1::float8).pg_sleep", "pg_sleep"],
      ["SELECT (1::bigint).pg_advisory_lock", "pg_advisory_lock"],
      ["SELECT ('/etc/passwd'::text).\"pg_read_file\"", "pg_read_file"],
      ["SELECT shop.tally(id) FROM shop.customers", "tallied"],
      ["SELECT 1 OPERATOR(shop.<%%>) 2", "operated"],
      ["SELECT row(1)::shop.disguise", "disguised"],
    ])("%s", async (sql, name) => {
      expect(await refusal(sql)).toContain(`the function ${name} may do more`);
      await unchanged();
    });

    it("spells no name by the codes of its letters", async () => {
      const sql = "SELECT U&\"pg\\005fread_file\"('/etc/passwd')";
      expect(await refusal(sql)).toBe('names are written without U&"…" here');
    });

    it.each(["dblink", "crosstab", "connectby"])(
      "calls no %s, where the extension is there",
      async (name) => {
        const schema = `ext_${name}`;
        await cluster.run(`
        CREATE SCHEMA ${schema}; GRANT USAGE ON SCHEMA ${schema} TO reader;
        CREATE FUNCTION ${schema}.${name}(sql text) RETURNS text LANGUAGE sql
        ${name === "dblink" ? "VOLATILE" : "STABLE"} AS 'SELECT sql'`);
        expect(await refusal(`SELECT ${schema}.${name}('DELETE FROM shop.orders')`)).toContain(
          `the function ${name}`,
        );
      },
    );

    it("keeps nothing of what a query set", async () => {
      const one = await connectAs("reader", { maxConnections: 1 });
      const settings = {
        sql: "SELECT current_setting('statement_timeout'), current_setting('transaction_read_only')",
      };
      expect((await answerOf(one, "query", settings)).rows).toEqual([["10s", "on"]]);
      await failureOf(one, "query", { sql: "SET statement_timeout = 0" });
      expect((await answerOf(one, "query", settings)).rows).toEqual([["10s", "on"]]);
      // A function that should not, and does.
      await cluster.run(`
        CREATE FUNCTION shop.sly() RETURNS text LANGUAGE plpgsql STABLE AS
        'BEGIN RETURN set_config(''application_name'', ''evil'', false); END'`);
      await answerOf(one, "query", { sql: "SELECT shop.sly()" });
      const name = { sql: "SELECT current_setting('application_name')" };
      expect((await answerOf(one, "query", name)).rows).toEqual([["patchbay"]]);
      await one.close();
    });

    async function unchanged(): Promise<void> {
      const [counts] = await cluster.run(`
        SELECT (SELECT count(*)::int FROM shop.customers) AS customers, (SELECT count(*)::int FROM shop.orders) AS orders,
          to_regclass('public.evil') AS evil, (SELECT count(*)::int FROM pg_largeobject_metadata) AS objects`);
      expect(counts).toEqual({ customers: 2, orders: 2, evil: null, objects: 0 });
    }
  });

  describe("roles", () => {
    it.each([
      ["owner", "is a superuser, or can become one"],
      ["climber", "is a superuser, or can become one"],
      ["filer", "is a member of pg_read_server_files"],
    ])("refuses %s", async (role, message) => {
      const mighty = await connectAs(role);
      expect(await failureOf(mighty, "query", { sql: "SELECT 1" })).toContain(message);
      expect(await failureOf(mighty, "list_tables", {})).toContain("--allow-superuser");
      await mighty.close();
    });

    it("that the operator allows read no file and run no program by a query all the same", async () => {
      const folder = mkdtempSync(join(tmpdir(), "patchbay-evil-"));
      const mighty = await connectAs("owner", { allowSuperuser: true, allowExecute: true });
      expect((await answerOf(mighty, "query", { sql: "SELECT 1" })).rows).toEqual([[1]]);
      expect(await failureOf(mighty, "query", { sql: "SELECT pg_read_file('/etc/passwd')" })).toContain(
        "pg_read_file",
      );
      const program = `COPY (SELECT 1) TO PROGRAM 'touch ${folder}/evil'`;
      expect(await failureOf(mighty, "query", { sql: program })).toContain("query runs SELECT");
      expect(await failureOf(mighty, "execute", { sql: program })).toBe("COPY … PROGRAM is not allowed here");
      expect(existsSync(join(folder, "evil"))).toBe(false);
      await mighty.close();
      rmSync(folder, { recursive: true });
    });

    it("and passwords are never told", async () => {
      const url = cluster.url("reader:hunter2").replace("postgres?", "nowhere?");
      const lost = await connect(createDatabase({ database: url }));
      const failure = await failureOf(lost, "list_tables", {});
      expect(failure).toContain('database "nowhere" does not exist');
      const unreachable = await connect(
        createDatabase({ database: "postgres://reader:hunter2@localhost/x?host=/nowhere/at/all" }),
      );
      const silence = await failureOf(unreachable, "list_tables", {});
      expect(silence).toBe("the database cannot be reached: ENOENT; try again later");
      expect(failure + silence + JSON.stringify(await lost.listTools()) + lost.instructions).not.toMatch(
        /hunter2|nowhere\/at/,
      );
      expect(() => createDatabase({ database: "postgres://reader:hunter2@[x" })).toThrow(
        /^the URL of the database cannot be read/,
      );
      await lost.close();
      await unreachable.close();
    });
  });

  describe("execute", () => {
    const execute = (sql: string, parameters?: unknown) => answerOf(client, "execute", { sql, parameters });

    it("changes, and says what", async () => {
      await cluster.run(
        "CREATE TABLE public.notes (n int UNIQUE, text text); GRANT ALL ON public.notes TO reader",
      );
      expect(await execute("INSERT INTO notes VALUES ($1, $2), (2, 'b') RETURNING n", [1, "a"])).toEqual({
        changes: 2,
        columns: [{ name: "n", type: "integer" }],
        rows: [[1], [2]],
        truncated: false,
      });
      expect(await execute("UPDATE notes SET text = 'c' WHERE n = $1", [2])).toMatchObject({ changes: 1 });
      expect(await execute("CREATE TABLE drafts (a int)")).toMatchObject({ changes: null, rows: [] });
      expect(await cluster.run("SELECT text FROM notes ORDER BY n")).toEqual([{ text: "a" }, { text: "c" }]);
    });

    it("says so when nobody knows whether it was done", async () => {
      await cluster.run(`
        CREATE TABLE public.fragile (n int); GRANT ALL ON public.fragile TO reader;
        CREATE FUNCTION public.last_words() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN IF NEW.n = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); ELSE RAISE ''not this''; END IF; RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER late AFTER INSERT ON public.fragile DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION public.last_words()`);
      const failureFor = (n: number) =>
        failureOf(client, "execute", { sql: "INSERT INTO fragile VALUES ($1)", parameters: [n] });
      expect(await failureFor(1)).toContain("whether the change was made is not known");
      expect(await failureFor(2)).toContain("not this");
    });

    it.each([
      ["INSERT INTO notes VALUES (7, 'x'), (1, 'y')", "duplicate key value"],
      ["DELETE FROM notes; DELETE FROM shop.orders", "cannot insert multiple commands"],
      ["COMMIT", "COMMIT is not allowed here"],
      ["ROLLBACK", "ROLLBACK is not allowed here"],
      ["COPY notes TO STDOUT", "COPY is not allowed here"],
      ["COPY notes FROM STDIN", "COPY from stdin failed"],
      ["SET ROLE owner", "permission denied to set role"],
    ])("does not do: %s", async (sql, message) => {
      expect(await failureOf(client, "execute", { sql })).toContain(message);
      expect(await cluster.run("SELECT count(*)::int AS n FROM notes")).toEqual([{ n: 2 }]);
    });
  });
});
