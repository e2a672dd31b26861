/** The official SDK v1's client, over HTTP or stdio. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { calling, target } from "./calling.mjs";

const client = new Client({ name: "patchbay-bench", version: "1.0.0" });
await client.connect(
  target.url ? new StreamableHTTPClientTransport(new URL(target.url)) : new StdioClientTransport(target),
);
calling((args) => client.callTool({ name: "echo", arguments: args }));
