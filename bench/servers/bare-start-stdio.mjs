/** A bare readline loop that answers anything: what a server in Node cannot start faster than. */

import { createInterface } from "node:readline";

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: {} })}\n`);
});
