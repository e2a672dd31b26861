/** The same tasks with our database server and with `mcp-server-sqlite-npx`: what each answers for the same file. */

import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "@patchbay/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Attendance, takeAttendance } from "../processes/attendance.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** What is the same for both is in the text of an answer. */
interface Contender {
  name: string;
  args: string[];
  tools: { read: string; describe: string };
  parameter: "sql" | "query";
  table: "table" | "table_name";
  /** How an integer beyond 2^53 is answered. */
  bigInteger: string;
  /** Whether two columns of one name are both answered. */
  twins: boolean;
  /** Whether a statement behind a WITH is read. */
  with: boolean;
}

const OURS: Contender = {
  name: "patchbay serve database",
  args: [at("../../packages/cli/dist/main.js"), "serve", "database"],
  tools: { read: "query", describe: "describe_table" },
  parameter: "sql",
  table: "table",
  bigInteger: '"9007199254740993"',
  twins: true,
  with: true,
};
const REFERENCE: Contender = {
  name: "mcp-server-sqlite-npx",
  args: [at("../node_modules/mcp-server-sqlite-npx/dist/index.js")],
  tools: { read: "read_query", describe: "describe_table" },
  parameter: "query",
  table: "table_name",
  bigInteger: "9007199254740992",
  twins: false,
  with: false,
};

describe.each([OURS, REFERENCE])("$name", (contender) => {
  let attendance: Attendance;
  let folder: string;
  let client: Client;

  beforeAll(async () => {
    attendance = await takeAttendance();
    folder = await mkdtemp(join(tmpdir(), "patchbay-database-"));
    const file = join(folder, "shop.db");
    const { DatabaseSync } = createRequire(at("../../packages/servers/package.json"))(
      "@photostructure/sqlite",
    );
    const database = new DatabaseSync(file);
    database.exec("CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL)");
    database.exec("INSERT INTO orders VALUES (1, 'tea'), (9007199254740993, 'salt')");
    database.close();
    client = await connect({
      command: process.execPath,
      args: [...contender.args, file],
      env: attendance.env,
    });
  });

  afterAll(async () => {
    await client?.close();
    await rm(folder, { recursive: true, force: true });
    await attendance.close();
  });

  async function call(tool: string, args: Record<string, string>) {
    const { content, isError = false } = await client.callTool(tool, args);
    const [block] = content;
    return { text: block?.type === "text" ? block.text.replaceAll(/\s+/g, "") : "", isError };
  }
  const read = (sql: string) => call(contender.tools.read, { [contender.parameter]: sql });

  test("lists the tables, and describes one", async () => {
    expect((await call("list_tables", {})).text).toContain('"orders"');
    const { text } = await call(contender.tools.describe, { [contender.table]: "orders" });
    expect(text).toContain('"item"');
    expect(text).toContain('"TEXT"');
  });

  test("reads rows, whatever their numbers", async () => {
    expect((await read("SELECT item FROM orders ORDER BY id")).text).toMatch(/"tea".*"salt"/);
    expect((await read("SELECT max(id) AS most FROM orders")).text).toContain(contender.bigInteger);
    const { text } = await read("SELECT 1001 AS x, 1002 AS x");
    expect([text.includes("1001"), text.includes("1002")]).toEqual([contender.twins, true]);
  });

  test("reads what begins with WITH", async () => {
    const { isError } = await read("WITH x AS (SELECT 1 AS y) SELECT y FROM x");
    expect(isError).toBe(!contender.with);
  });

  test("changes nothing by what only reads", async () => {
    expect((await read("DELETE FROM orders")).isError).toBe(true);
    expect((await read("SELECT count(*) AS many FROM orders")).text).toContain("2");
  });
});
