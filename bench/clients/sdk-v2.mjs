/** The official SDK v2's client, over HTTP or stdio. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { isModern } from "../messages.mjs";
import { calling, revision, target } from "./calling.mjs";

const client = new Client(
  { name: "patchbay-bench", version: "1.0.0" },
  { versionNegotiation: { mode: isModern(revision) ? { pin: revision } : "legacy" } },
);
await client.connect(
  target.url ? new StreamableHTTPClientTransport(new URL(target.url)) : new StdioClientTransport(target),
);
calling((args) => client.callTool({ name: "echo", arguments: args }));
