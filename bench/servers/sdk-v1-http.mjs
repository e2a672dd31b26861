/**
 * The official SDK v1 over Streamable HTTP, after its own examples: Express by `createMcpExpressApp`, JSON answers
 * (the faster of its two modes). Argument `stateless`: a server and a transport for each request; `sessions`: for each session.
 */

import { randomUUID } from "node:crypto";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import { listening } from "./listening.mjs";
import { buildServer } from "./sdk-v1.mjs";

const sessions = new Map();

async function stateless(req, res) {
  const server = buildServer();
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  });
  res.on("close", () => {
    transport.close();
    server.close();
  });
  await server.connect(transport);
  await transport.handleRequest(req, res, req.body);
}

async function withSessions(req, res) {
  let transport = sessions.get(req.headers["mcp-session-id"]);
  if (!transport && isInitializeRequest(req.body)) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    transport.onclose = () => sessions.delete(transport.sessionId);
    await buildServer().connect(transport);
  }
  if (!transport) return res.status(404).end();
  await transport.handleRequest(req, res, req.body);
}

const app = createMcpExpressApp();
app.all("/mcp", process.argv[2] === "stateless" ? stateless : withSessions);
const http = app.listen(0, "127.0.0.1", () => listening(http.address().port));
