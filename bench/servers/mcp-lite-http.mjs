/** mcp-lite over Streamable HTTP, as its README mounts it: Hono, here on `@hono/node-server`. Argument `stateless` or `sessions`. */

import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { InMemorySessionAdapter, McpServer, StreamableHttpTransport } from "mcp-lite";
import { z } from "zod";
import { listening } from "./listening.mjs";

const mcp = new McpServer({
  name: "echo",
  version: "1.0.0",
  schemaAdapter: (schema) => z.toJSONSchema(schema),
});
mcp.tool("echo", {
  description: "Says it back",
  inputSchema: z.object({ text: z.string() }),
  handler: ({ text }) => ({ content: [{ type: "text", text }] }),
});

const sessionAdapter = new InMemorySessionAdapter({ maxEventBufferSize: 1024 });
const transport = new StreamableHttpTransport(process.argv[2] === "sessions" ? { sessionAdapter } : {});
const handle = transport.bind(mcp);

const app = new Hono();
app.all("/mcp", (c) => handle(c.req.raw));
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => listening(port));
