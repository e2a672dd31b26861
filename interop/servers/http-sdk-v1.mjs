/** An SDK v1 server over Streamable HTTP, with sessions and events that are kept, or over HTTP+SSE. */

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { EventStore } from "./event-store.mjs";

export function serveHttp(build) {
  const transports = new Map();
  const http = createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    let transport = transports.get(id);
    if (transport === undefined) {
      if (id !== undefined) return void response.writeHead(404).end();
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        eventStore: new EventStore(),
        retryInterval: 20,
        onsessioninitialized: (session) => transports.set(session, transport),
        onsessionclosed: (session) => transports.delete(session),
      });
      await build().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  http.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () =>
    console.log(`http://127.0.0.1:${http.address().port}/mcp`),
  );
}

export function serveSse(build) {
  const transports = new Map();
  const http = createServer(async (request, response) => {
    const url = new URL(request.url, "http://127.0.0.1");
    if (request.method === "POST") {
      const transport = transports.get(url.searchParams.get("sessionId"));
      if (transport === undefined) return void response.writeHead(404).end();
      return void (await transport.handlePostMessage(request, response));
    }
    if (url.pathname !== "/sse") return void response.writeHead(404).end();
    const transport = new SSEServerTransport("/messages", response);
    transports.set(transport.sessionId, transport);
    response.on("close", () => transports.delete(transport.sessionId));
    await build().connect(transport);
  });
  http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/sse`));
}
