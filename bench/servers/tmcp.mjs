/** tmcp's server. */

import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { McpServer } from "tmcp";
import { z } from "zod";
import { PROGRESS, tools } from "./workload.mjs";

export const server = new McpServer(
  { name: "bench", version: "1.0.0", description: "Says it back" },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } },
);
for (const { name, description, shape, run, reports } of tools) {
  server.tool({ name, description, schema: z.object(shape) }, async (args) => {
    if (reports) server.progress(PROGRESS.progress, PROGRESS.total, PROGRESS.message);
    return { content: [{ type: "text", text: run(args) }] };
  });
}
