/** Our server, as our README tells to write it. */

import { McpServer } from "@patchbay/server";
import { z } from "zod";
import { PROGRESS, tools } from "./workload.mjs";

export const server = new McpServer({ name: "bench", version: "1.0.0" });
for (const { name, description, shape, run, reports } of tools) {
  const about = { description, input: z.object(shape) };
  if (!reports) server.tool(name, about, run);
  else {
    server.tool(name, about, (args, ctx) => {
      ctx.progress(PROGRESS.progress, PROGRESS.total, PROGRESS.message);
      return run(args);
    });
  }
}
