/** An MCP server at a path of a node:http server that serves other things too. */
// @ts-check

import { createServer } from "node:http";
import { McpServer } from "@patchbay/server";
import { httpHandler } from "@patchbay/server/http";
import { z } from "zod";

/** @type {string[]} */
const notes = [];

const server = new McpServer({ name: "notes", version: "1.0.0" });
server.resource("notes://all", { name: "all", mimeType: "text/plain" }, () => notes.join("\n"));
server.tool(
  "write",
  { description: "Writes a note down", input: z.object({ text: z.string() }) },
  ({ text }) => {
    notes.push(text);
    server.resourceUpdated("notes://all"); // whoever subscribed is told
    return `${notes.length} notes`;
  },
);

const host = "127.0.0.1";
const mcp = httpHandler(server, host);
const http = createServer((request, response) => {
  if (request.url === "/mcp") return mcp(request, response);
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.end(`${notes.length} notes so far\n`);
});

const [, , port = "3000"] = process.argv;
http.listen(Number(port), host, () => {
  const address = /** @type {import("node:net").AddressInfo} */ (http.address());
  console.error(`A page is at http://${host}:${address.port}/, MCP at /mcp (Ctrl-C ends it)`);
});
process.once("SIGINT", () => {
  mcp.close();
  http.close();
});
