/** mcp-lite over Streamable HTTP, as its README mounts it: Hono, here on `@hono/node-server`. Argument `stateless` or `sessions`. */

import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { InMemorySessionAdapter, McpServer, StreamableHttpTransport } from "mcp-lite";
import { z } from "zod";
import { listening } from "./listening.mjs";
import { PROGRESS, tools } from "./workload.mjs";

const mcp = new McpServer({
  name: "bench",
  version: "1.0.0",
  schemaAdapter: (schema) => z.toJSONSchema(schema),
});
for (const { name, description, shape, run, reports } of tools) {
  mcp.tool(name, {
    description,
    inputSchema: z.object(shape),
    handler: async (args, ctx) => {
      if (reports) await ctx.progress?.(PROGRESS);
      return { content: [{ type: "text", text: run(args) }] };
    },
  });
}

const sessionAdapter = new InMemorySessionAdapter({ maxEventBufferSize: 1024 });
const transport = new StreamableHttpTransport(process.argv[2] === "sessions" ? { sessionAdapter } : {});
const handle = transport.bind(mcp);

const app = new Hono();
app.all("/mcp", (c) => handle(c.req.raw));
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => listening(port));
