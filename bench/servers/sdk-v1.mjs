/** The official SDK v1's server. The schemas are made once; a server holds one connection, so there is one for each. */

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { PROGRESS, tools } from "./workload.mjs";

export function buildServer() {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  for (const { name, description, shape, run, reports } of tools) {
    server.registerTool(name, { description, inputSchema: shape }, async (args, extra) => {
      if (reports) {
        const progressToken = extra._meta?.progressToken;
        await extra.sendNotification({
          method: "notifications/progress",
          params: { progressToken, ...PROGRESS },
        });
      }
      return { content: [{ type: "text", text: run(args) }] };
    });
  }
  return server;
}
