/** An SDK v2 server over Streamable HTTP: sessions for legacy clients, as the SDK's guide has it, and none for modern ones. */

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, isLegacyRequest } from "@modelcontextprotocol/server";
import { EventStore } from "./event-store.mjs";

/** @returns what tells modern clients of changes */
export function serveHttp(build) {
  const modern = createMcpHandler(build, { legacy: "reject" });
  const handleModern = toNodeHandler(modern);
  const transports = new Map();

  async function handleLegacy(request, response, body) {
    const id = request.headers["mcp-session-id"];
    let transport = transports.get(id);
    if (transport === undefined) {
      if (id !== undefined) return void response.writeHead(404).end();
      transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        eventStore: new EventStore(),
        retryInterval: 20,
        onsessioninitialized: (session) => transports.set(session, transport),
        onsessionclosed: (session) => transports.delete(session),
      });
      await build({ era: "legacy" }).connect(transport);
    }
    await transport.handleRequest(request, response, body);
  }

  const http = createServer(async (request, response) => {
    if (request.method !== "POST") return handleLegacy(request, response);
    const chunks = await request.toArray();
    const body = JSON.parse(Buffer.concat(chunks));
    const { method, headers, url } = request;
    const init = { method, headers, body: JSON.stringify(body) };
    const legacy = await isLegacyRequest(new Request(new URL(url, "http://127.0.0.1"), init));
    return legacy ? handleLegacy(request, response, body) : handleModern(request, response, body);
  });
  http.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () =>
    console.log(`http://127.0.0.1:${http.address().port}/mcp`),
  );
  return modern.notify;
}
