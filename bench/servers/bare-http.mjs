/** Bare `node:http`: what an MCP server in Node cannot be faster than. */

import { answer } from "./bare-answer.mjs";
import { bareHttp } from "./bare-listening.mjs";

bareHttp((json, res) => {
  const body = answer(json);
  res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  res.end(body);
});
