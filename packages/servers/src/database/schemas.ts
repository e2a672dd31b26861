/** What the tools take and give. */

import { z } from "zod";

const Cell = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.strictObject({ base64: z.base64() }).describe("Bytes"),
]);

export const Parameters = z
  .union([z.array(Cell), z.record(z.string(), Cell)])
  .describe("The values of the parameters: an array by position, or an object by name (SQLite only)");

const CELL = `A value. Integers beyond 2^53, NUMERIC, dates and times are text, exactly as the database writes them; bytes are {"base64": …}; NULL is null`;

/** How many bytes a list of rows has is bounded; so what is in them is not looked at again. */
const rows = {
  columns: z.array(z.object({ name: z.string(), type: z.string().nullable() })),
  rows: z
    .array(z.array(z.any().describe(CELL)))
    .describe("One array for each row, in the order of the columns"),
  truncated: z.boolean().describe("Whether there are more rows than these"),
  notice: z.string().optional().describe("Why there are more, and how to get at them"),
};

export const Rows = z.object(rows);

export const Changes = z.object({
  changes: z
    .int()
    .nullable()
    .describe("Rows that were inserted, updated or deleted; null where that is not known"),
  lastInsertRowid: z.union([z.int(), z.string()]).optional(),
  ...rows,
});

const table = {
  name: z.string(),
  schema: z.string().optional(),
  kind: z.string().describe("table, view, …"),
  comment: z.string().optional(),
};

export const Tables = z.object({
  tables: z.array(z.object(table)),
  truncated: z.boolean().describe("Whether there are more tables than these"),
});

export const Table = z.object({
  ...table,
  columns: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      nullable: z.boolean(),
      default: z.string().optional(),
      generated: z.string().optional(),
      comment: z.string().optional(),
    }),
  ),
  primaryKey: z.array(z.string()),
  foreignKeys: z.array(
    z.object({
      columns: z.array(z.string()),
      references: z.object({
        schema: z.string().optional(),
        table: z.string(),
        columns: z.array(z.string()).describe("None: its primary key"),
      }),
    }),
  ),
  indexes: z.array(
    z.object({
      name: z.string(),
      unique: z.boolean(),
      columns: z.array(z.string().nullable()).describe("null: an expression"),
    }),
  ),
  definition: z.string().optional().describe("The SQL that defines it"),
  estimatedRows: z.number().optional(),
});
