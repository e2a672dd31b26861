/** The tools: list_tables, describe_table, query, and execute where the operator allows it. */

import { nearest } from "@patchbay/core";
import type { Context, McpServer } from "@patchbay/server";
import { z } from "zod";
import { askToRun } from "./consent.ts";
import type { Database, Rows as DatabaseRows, Statement, TableDescription } from "./database.ts";
import { DatabaseError, type DatabaseLimits, limitExceeded } from "./limits.ts";
import { findTable } from "./resources.ts";
import { Changes, Parameters, Rows, Table, Tables } from "./schemas.ts";
import type { Parameters as Values } from "./values.ts";

const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** Milliseconds between two words about a statement that runs. */
const TELL_EVERY = 1000;

export function addTools(
  server: McpServer,
  database: Database,
  limits: DatabaseLimits,
  allowExecute: boolean,
): void {
  server.tool(
    "list_tables",
    {
      title: "List tables",
      description: "Lists the tables and views of the database.",
      output: Tables,
      annotations: READS,
    },
    async (_args, ctx) => {
      const tables = await database.tables(ctx.signal);
      return { tables: tables.slice(0, limits.maxTables), truncated: tables.length > limits.maxTables };
    },
  );

  server.tool(
    "describe_table",
    {
      title: "Describe a table",
      description: "Tells the columns, keys and indexes of a table or view.",
      input: z.object({
        table: z.string().min(1).max(500).describe("Its name, as list_tables gives it"),
        schema: z.string().min(1).max(500).optional().describe("The schema that it is in (PostgreSQL only)"),
      }),
      output: Table,
      annotations: READS,
    },
    ({ table, schema }, ctx) => describe(database, table, schema, ctx.signal),
  );

  const statement = z.object({
    sql: z.string().min(1).describe(`One statement of ${database.engine}`),
    parameters: Parameters.optional().describe(`Values of its parameters: ${database.parameterSyntax}`),
    max_rows: z
      .int()
      .min(1)
      .max(limits.maxRows)
      .default(Math.min(100, limits.maxRows))
      .describe("Rows to answer at most"),
  });

  server.tool(
    "query",
    {
      title: "Query",
      description: `Runs one statement that reads: SELECT, WITH … SELECT, VALUES or EXPLAIN. Write values as parameters: ${database.parameterSyntax}.`,
      input: statement,
      output: Rows,
      annotations: READS,
    },
    async ({ sql, parameters = [], max_rows: maxRows }, ctx) => {
      const checked = within(limits, { sql, parameters, maxRows });
      return answered(await telling(ctx, limits, () => database.query(checked, ctx.signal)), limits);
    },
  );

  if (!allowExecute) return;
  server.tool(
    "execute",
    {
      title: "Execute",
      description: `Runs one statement that changes data or tables, after asking the user. It is done whole or not at all. Write values as parameters: ${database.parameterSyntax}.`,
      input: statement,
      output: Changes,
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: false,
      },
      // What was agreed to once is done once.
      once: true,
    },
    async ({ sql, parameters = [], max_rows: maxRows }, ctx) => {
      const checked = within(limits, { sql, parameters, maxRows });
      await askToRun(database.engine, sql, parameters, ctx);
      const changes = await telling(ctx, limits, () => database.execute(checked, ctx.signal));
      return {
        changes: changes.changes,
        lastInsertRowid: changes.lastInsertRowid,
        ...answered(changes, limits),
      };
    },
  );
}

/** @throws DatabaseError when there is no such table, with the nearest name */
async function describe(
  database: Database,
  table: string,
  schema: string | undefined,
  signal: AbortSignal,
): Promise<TableDescription> {
  const found = await findTable(database, table, schema, signal);
  if (found !== undefined) return found;
  const near = nearest(
    table,
    (await database.tables(signal)).map(({ name }) => name),
  );
  const where = schema === undefined ? "" : ` in the schema "${schema}"`;
  const advice = near === undefined ? "list_tables tells which there are" : `did you mean "${near}"?`;
  throw new DatabaseError(`there is no table "${table}"${where}; ${advice}`);
}

/** @throws DatabaseError that names the bound */
function within(limits: DatabaseLimits, statement: Statement): Statement {
  const { sql, parameters } = statement;
  if (sql.length > limits.maxSqlLength)
    throw limitExceeded("maxSqlLength", limits, "the statement has more characters");
  if (count(parameters) > limits.maxParameters)
    throw limitExceeded("maxParameters", limits, "the statement has more parameters");
  return statement;
}

function count(parameters: Values): number {
  return Array.isArray(parameters) ? parameters.length : Object.keys(parameters).length;
}

/** Runs a statement, and tells the client each second that it still runs. */
async function telling<T>(ctx: Context, { timeout }: DatabaseLimits, run: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const tell = () => {
    const seconds = Math.round((performance.now() - start) / 1000);
    ctx.progress(seconds, timeout / 1000, `running for ${seconds} s, of ${timeout / 1000} at most`);
  };
  const timer = setInterval(tell, TELL_EVERY);
  try {
    return await run();
  } finally {
    clearInterval(timer);
  }
}

function answered({ columns, rows, cutBy }: DatabaseRows, limits: DatabaseLimits) {
  if (cutBy === undefined) return { columns, rows, truncated: false };
  const why =
    cutBy === "maxRows"
      ? `These are the first ${rows.length} rows. There are more: aggregate, or go on with ORDER BY, LIMIT and OFFSET`
      : `These are the first ${rows.length} rows: maxBytes allows no more (${limits.maxBytes.toLocaleString("en-US")}). Select fewer columns, or go on with ORDER BY, LIMIT and OFFSET`;
  return { columns, rows, truncated: true, notice: why };
}
