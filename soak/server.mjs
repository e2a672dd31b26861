/** The server that is soaked: everything, with limits so tight that minutes hold the turns of hours. Prints its URL. */

import { memorySessions, serveHttp } from "@patchbay/server/http";
import { createEverything } from "@patchbay/servers/everything";

const TEXT = { type: "string" };
const taking = (properties) => ({ type: "object", properties, required: Object.keys(properties) });

const server = createEverything();
/** Whose reader was given up. */
const dropped = new Set();

server
  .tool(
    "flood",
    { description: "Tells more than a slow reader takes", input: taking({ key: TEXT }) },
    async ({ key }, ctx) => {
      const message = "x".repeat(64 * 1024);
      for (let step = 1; step <= 500 && !ctx.signal.aborted; step++) {
        ctx.progress(step, 500, message);
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (ctx.signal.aborted) dropped.add(key);
      return "told";
    },
  )
  .tool("dropped", { input: taking({ key: TEXT }) }, ({ key }) => String(dropped.delete(key)))
  .tool("hang", { description: "Works until it is cancelled", input: { type: "object" } }, (_, ctx) => {
    ctx.progress(1);
    return new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve("cancelled")));
  })
  .tool("touch", { description: "Says that a resource has changed" }, () => {
    server.resourceUpdated("test://watched-resource");
  })
  .tool("memory", { description: "Collects garbage, and tells what is left" }, () => {
    globalThis.gc();
    globalThis.gc();
    const { heapUsed, external, rss } = process.memoryUsage();
    return JSON.stringify({ held: heapUsed + external, rss });
  });

const serving = await serveHttp(server, {
  port: 0,
  sessions: memorySessions({ maxSessions: 1000, safeMs: 200, idleMs: 5000 }),
  keepAlive: 1000,
  headersTimeout: 3000,
  requestTimeout: 5000,
  drainTimeout: 1000,
  answerTimeout: 5000,
  maxBufferedBytes: 256 * 1024,
  maxEvents: 50,
  maxKeptBytes: 4 * 1024 * 1024,
});
console.log(serving.url);
process.once("SIGTERM", () => serving.close());
