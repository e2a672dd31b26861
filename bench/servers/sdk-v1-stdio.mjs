/** The official SDK v1 over stdio. */

import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { buildServer } from "./sdk-v1.mjs";

await buildServer().connect(new StdioServerTransport());
process.stdin.on("end", () => process.exit(0));
