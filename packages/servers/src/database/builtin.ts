/** The database server as a built-in: what it is told on a command line. */

import { type Builtin, Settings } from "../builtin.ts";

export const database: Builtin = {
  description: "The tables of a SQLite file or a PostgreSQL database: described, queried, changed if allowed",
  operand: {
    name: "database",
    description: "a file of SQLite's, or a postgres:// URL; else DATABASE_URL of the environment",
  },
  options: [
    { flags: "--allow-execute", description: "offer execute, which changes data after asking the user" },
    {
      flags: "--allow-superuser",
      description: "serve a role of PostgreSQL's that can reach files and programs of its machine",
    },
    { flags: "--timeout <ms>", description: "for one statement (default: 10000)" },
    { flags: "--max-rows <n>", description: "of one answer (default: 1000)" },
    { flags: "--max-bytes <n>", description: "of the rows of one answer (default: 500000)" },
    { flags: "--max-connections <n>", description: "statements at once (default: 4)" },
  ],
  environment: ["DATABASE_URL", "PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGPASSFILE", "PGSSLMODE"],
  async load(given) {
    const settings = new Settings(given);
    const { createDatabase } = await import("./index.ts");
    return createDatabase({
      database: settings.operands[0] ?? settings.variable("DATABASE_URL") ?? "",
      allowExecute: settings.has("allow-execute"),
      allowSuperuser: settings.has("allow-superuser"),
      timeout: settings.count("timeout"),
      maxRows: settings.count("max-rows"),
      maxBytes: settings.count("max-bytes"),
      maxConnections: settings.count("max-connections"),
    });
  },
};
