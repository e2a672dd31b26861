/** Bare `node:http`: what an MCP server in Node cannot be faster than. */

import { createServer } from "node:http";
import { answer } from "./bare.mjs";
import { listening } from "./listening.mjs";

const server = createServer((req, res) => {
  const chunks = [];
  req.on("data", (chunk) => chunks.push(chunk));
  req.on("end", () => {
    const body = answer(Buffer.concat(chunks).toString());
    res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    res.end(body);
  });
});
server.listen(0, "127.0.0.1", () => listening(server.address().port));
