/** The schema as resources: all tables, and each with its columns, keys and indexes; names are completed. */

import { ResourceNotFoundError } from "@patchbay/core";
import type { McpServer } from "@patchbay/server";
import type { Database, TableDescription, TableName } from "./database.ts";

const JSON_TYPE = "application/json";

export function addResources(server: McpServer, database: Database): void {
  server.resource(
    "database://tables",
    {
      name: "tables",
      title: "Tables",
      description: "The tables and views of the database",
      mimeType: JSON_TYPE,
    },
    async (_uri, ctx) => JSON.stringify(await database.tables(ctx.signal), null, 2),
  );

  server.resourceTemplate(
    "database://table/{table}",
    {
      name: "table",
      title: "Table",
      description:
        "The columns, keys and indexes of a table; its name may begin with its schema: public.users",
      mimeType: JSON_TYPE,
      complete: {
        table: async (typed) => {
          const names = (await database.tables(AbortSignal.timeout(COMPLETION))).map(fullName);
          const wanted = typed.toLowerCase();
          return names.filter((name) => name.toLowerCase().includes(wanted)).sort(startsFirst(wanted));
        },
      },
    },
    async (uri, { table = "" }, ctx) => {
      const found = await findTable(database, table, undefined, ctx.signal);
      if (found === undefined) throw new ResourceNotFoundError(uri);
      return JSON.stringify(found, null, 2);
    },
  );
}

/** Milliseconds that somebody who types waits. */
const COMPLETION = 5000;

/** A name may hold a dot itself: so it is looked for as it is, and then as a schema and a name. */
export async function findTable(
  database: Database,
  table: string,
  schema: string | undefined,
  signal: AbortSignal,
): Promise<TableDescription | undefined> {
  const whole = await database.describe(table, schema, signal);
  const dot = table.indexOf(".");
  if (whole !== undefined || schema !== undefined || dot === -1) return whole;
  return database.describe(table.slice(dot + 1), table.slice(0, dot), signal);
}

function fullName({ schema, name }: TableName): string {
  return schema === undefined ? name : `${schema}.${name}`;
}

function startsFirst(wanted: string): (a: string, b: string) => number {
  const rank = (name: string) => (name.toLowerCase().startsWith(wanted) ? 0 : 1);
  return (a, b) => rank(a) - rank(b);
}
