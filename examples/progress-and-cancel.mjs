/** A long call that tells how far it is, and that ends on both sides when the client has seen enough. */
// @ts-check

import { setTimeout as wait } from "node:timers/promises";
import { connect } from "@patchbay/client";
import { McpServer } from "@patchbay/server";
import { serveHttp } from "@patchbay/server/http";
import { z } from "zod";

const server = new McpServer({ name: "press", version: "1.0.0" });

server.tool("print", { input: z.object({ pages: z.int() }) }, async ({ pages }, ctx) => {
  ctx.signal.addEventListener("abort", () => console.log(`server: ${ctx.signal.reason.message}`));
  for (let page = 1; page <= pages; page++) {
    await wait(20, undefined, { signal: ctx.signal });
    ctx.progress(page, pages, `page ${page}`);
  }
  return `Printed ${pages} pages`;
});

const running = await serveHttp(server, { port: 0 });
const client = await connect(running.url);
const stop = new AbortController();

try {
  await client.callTool(
    "print",
    { pages: 1000 },
    {
      signal: stop.signal,
      timeout: 5_000, // without a sign of life; each bit of progress begins it anew
      onProgress: ({ progress, total, message }) => {
        console.log(`client: ${message} (${progress} of ${total})`);
        if (progress === 3) stop.abort(new Error("Three pages are enough"));
      },
    },
  );
} catch (error) {
  console.log(`client: ${/** @type {Error} */ (error).message}`);
}

await client.close();
await running.close();
