/** A bare `node:http` server that reads the body of each request, and leaves the rest to its caller. */

import { createServer } from "node:http";
import { listening } from "./listening.mjs";

/** @param {(json: string, res: import("node:http").ServerResponse) => void} respond */
export function bareHttp(respond) {
  const server = createServer((req, res) => {
    const chunks = [];
    req.on("data", (chunk) => chunks.push(chunk));
    req.on("end", () => respond(Buffer.concat(chunks).toString(), res));
  });
  server.listen(0, "127.0.0.1", () => listening(server.address().port));
}
