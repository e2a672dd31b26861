/** The official SDK v2's echo server, as the factory that its entry points take. The schema is made once. */

import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const inputSchema = z.object({ text: z.string() });

export function buildServer() {
  const server = new McpServer({ name: "echo", version: "1.0.0" });
  server.registerTool("echo", { description: "Says it back", inputSchema }, async ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  return server;
}
