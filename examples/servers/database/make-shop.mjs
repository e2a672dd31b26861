/** Makes shop.db, a small database to try, by the server's own `execute`; a person would be asked for each statement. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "@patchbay/client";
import { createDatabase } from "@patchbay/servers/database";

const file = join(import.meta.dirname, "shop.db");
// An empty file is an empty database.
writeFileSync(file, "");

const client = await connect(createDatabase({ database: file, allowExecute: true }), {
  onElicit: () => ({ action: "accept", content: { run: true } }),
});
for (const sql of [
  "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT)",
  "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customers, cents INTEGER NOT NULL)",
  "INSERT INTO customers (name, city) VALUES ('Ada', 'London'), ('Bo', 'Beijing'), ('Cy', 'Paris')",
  "INSERT INTO orders (customer, cents) VALUES (1, 1250), (1, 300), (2, 9900), (3, 4210)",
]) {
  const { content, isError } = await client.callTool("execute", { sql });
  if (isError) throw new Error(JSON.stringify(content));
}
await client.close();
console.log("shop.db is there");
