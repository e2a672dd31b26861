/** The official SDK v1's echo server. The schema is made once; a server holds one connection, so there is one for each. */

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

const inputSchema = { text: z.string() };

export function buildServer() {
  const server = new McpServer({ name: "echo", version: "1.0.0" });
  server.registerTool("echo", { description: "Says it back", inputSchema }, async ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  return server;
}
