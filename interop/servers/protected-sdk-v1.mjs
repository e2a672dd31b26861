/** A protected server of the official SDK v1, with the SDK's own authorization server beside it: `node protected-sdk-v1.mjs`. */

import { createServer } from "node:http";
import { DemoInMemoryAuthProvider } from "@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthRouter,
} from "@modelcontextprotocol/sdk/server/auth/router.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";

const SCOPE = "mcp:tools";

const app = express();
const http = createServer(app);
http.listen(0, "127.0.0.1", () => {
  const issuerUrl = new URL(`http://127.0.0.1:${http.address().port}`);
  const resourceServerUrl = new URL("/mcp", issuerUrl);
  const provider = new DemoInMemoryAuthProvider((resource) => resource?.href === resourceServerUrl.href);
  app.use(mcpAuthRouter({ provider, issuerUrl, resourceServerUrl, scopesSupported: [SCOPE] }));
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resourceServerUrl);
  const guard = requireBearerAuth({ verifier: provider, requiredScopes: [SCOPE], resourceMetadataUrl });
  app.all("/mcp", guard, async (request, response) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await build().connect(transport);
    await transport.handleRequest(request, response);
  });
  console.log(resourceServerUrl.href);
});

function build() {
  const mcp = new McpServer({ name: "protected", version: "1.0.0" });
  mcp.registerTool("who", {}, ({ authInfo }) => ({
    content: [{ type: "text", text: authInfo.scopes.join(" ") }],
  }));
  return mcp;
}
