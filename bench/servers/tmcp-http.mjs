/** tmcp over Streamable HTTP, as its transport's README mounts it with srvx; both eras. */

import { HttpTransport } from "@tmcp/transport-http";
import { serve } from "srvx";
import { listening } from "./listening.mjs";
import { server } from "./tmcp.mjs";

const transport = new HttpTransport(server, { path: "/mcp" });

const http = serve({
  port: 0,
  hostname: "127.0.0.1",
  silent: true,
  async fetch(req) {
    return (await transport.respond(req)) ?? new Response("Not Found", { status: 404 });
  },
});
await http.ready();
listening(Number(new URL(http.url).port));
