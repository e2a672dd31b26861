/** Our echo server, as our README tells to write it. */

import { McpServer } from "@patchbay/server";
import { z } from "zod";

export const server = new McpServer({ name: "echo", version: "1.0.0" });
server.tool(
  "echo",
  { description: "Says it back", input: z.object({ text: z.string() }) },
  ({ text }) => text,
);
