/** The official SDK v2 over Streamable HTTP, as its "Serve over HTTP" guide mounts it on `node:http`; both eras. */

import { createServer } from "node:http";
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { listening } from "./listening.mjs";
import { buildServer } from "./sdk-v2.mjs";

const handle = toNodeHandler(createMcpHandler(buildServer));
const validateHost = localhostHostValidation();
const validateOrigin = localhostOriginValidation();

const http = createServer((req, res) => {
  if (!validateHost(req, res) || !validateOrigin(req, res)) return;
  void handle(req, res);
});
http.listen(0, "127.0.0.1", () => listening(http.address().port));
