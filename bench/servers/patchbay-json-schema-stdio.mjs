/** Patchbay over stdio, its tool's input as plain JSON Schema: without Zod. */

import { McpServer } from "@patchbay/server";
import { serveStdio } from "@patchbay/server/stdio";

const server = new McpServer({ name: "bench", version: "1.0.0" });
const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
server.tool("echo", { description: "Says it back", input }, ({ text }) => text);
await serveStdio(server);
