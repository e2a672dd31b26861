/** The official SDK v2 with sessions, after its "Sessions, state, and scaling" guide: a server and a transport for each session. */

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
} from "@modelcontextprotocol/node";
import { listening } from "./listening.mjs";
import { buildServer } from "./sdk-v2.mjs";

const sessions = new Map();
const validateHost = localhostHostValidation();
const validateOrigin = localhostOriginValidation();

async function transportFor(req) {
  const known = sessions.get(req.headers["mcp-session-id"]);
  if (known) return known;
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  transport.onclose = () => sessions.delete(transport.sessionId);
  await buildServer().connect(transport);
  return transport;
}

const http = createServer(async (req, res) => {
  if (!validateHost(req, res) || !validateOrigin(req, res)) return;
  await (await transportFor(req)).handleRequest(req, res);
});
http.listen(0, "127.0.0.1", () => listening(http.address().port));
