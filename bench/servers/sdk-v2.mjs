/** The official SDK v2's server, as the factory that its entry points take. The schemas are made once. */

import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { PROGRESS, tools } from "./workload.mjs";

const prepared = tools.map((tool) => ({ ...tool, inputSchema: z.object(tool.shape) }));

export function buildServer() {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  for (const { name, description, inputSchema, run, reports } of prepared) {
    server.registerTool(name, { description, inputSchema }, async (args, ctx) => {
      if (reports) {
        const { progressToken } = ctx.mcpReq._meta;
        await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, ...PROGRESS } });
      }
      return { content: [{ type: "text", text: run(args) }] };
    });
  }
  return server;
}
