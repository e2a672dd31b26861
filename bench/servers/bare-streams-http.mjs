/** Bare `node:http` that answers each GET with a stream which stays open. */

import { createServer } from "node:http";
import { listening } from "./listening.mjs";

const server = createServer((req, res) => {
  if (req.method === "GET") res.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  else res.end();
});
server.listen(0, "127.0.0.1", () => listening(server.address().port));
