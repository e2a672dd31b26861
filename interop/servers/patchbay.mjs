/** The offer, served by Patchbay: `node patchbay.mjs stdio|http|sse`. */

import { McpServer } from "@patchbay/server";
import { serveHttp } from "@patchbay/server/http";
import { serveStdio } from "@patchbay/server/stdio";
import { z } from "zod";
import { hang, tell, told } from "./happenings.mjs";
import * as offer from "./offer.mjs";
import { offerDetaching, offerQuestions } from "./questions-patchbay.mjs";

const server = new McpServer(offer.INFO, {
  instructions: offer.INSTRUCTIONS,
  pageSize: offer.NOTES_PER_PAGE,
  tasks: { pollInterval: 20 },
});

server
  .tool("echo", { description: "Says it again", input: z.object({ text: z.string() }) }, ({ text }) => text)
  .tool(
    "add",
    {
      title: "Addition",
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => ({ sum: a + b }),
  )
  .tool("blocks", { description: "One block of each kind" }, () => offer.BLOCKS)
  .tool("fail", {}, () => {
    throw new Error(offer.FAILURE);
  })
  .tool("count", { input: z.object({ to: z.number().int(), key: z.string() }) }, async ({ to, key }, ctx) => {
    for (let step = 1; step <= to; step++) {
      ctx.progress(step, to, `step ${step}`);
      await told(`${key} ${step}`);
    }
    return `counted to ${to}`;
  })
  .tool("heard", { input: z.object({ key: z.string(), step: z.number().int() }) }, ({ key, step }) => {
    tell(`${key} ${step}`);
  })
  .tool("log", {}, (_, ctx) => {
    ctx.log("debug", "too quiet", "interop");
    ctx.log("warning", { loud: true }, "interop");
    return "logged";
  })
  .tool("hang", { input: z.object({ key: z.string() }) }, async ({ key }, ctx) => {
    ctx.progress(1, undefined, "hanging");
    await hang(key, ctx.signal);
  })
  .tool("stopped", { input: z.object({ key: z.string() }) }, async ({ key }) => {
    await told(key);
    return "stopped";
  })
  .tool("change", {}, () => {
    server.tool("passing", {}, () => "gone").removeTool("passing");
    server.prompt("passing", {}, () => "gone").removePrompt("passing");
    server.resource("passing:///", { name: "passing" }, () => "gone").removeResource("passing:///");
    for (const { uri } of offer.NOTES) server.resourceUpdated(uri);
  });
offerQuestions(server);
offerDetaching(server);

for (const { uri, text, ...definition } of offer.NOTES) server.resource(uri, definition, () => text);
server.resource(offer.BLOB_URI, { name: "blob", mimeType: "application/octet-stream" }, () => offer.BLOB);
server.resourceTemplate(
  offer.GREETING,
  { name: "greeting", complete: { name: (value) => offer.startingWith(offer.NAMES, value) } },
  (_, { name }) => offer.greet(name),
);
server.prompt(
  "brief",
  {
    description: "A brief about something",
    arguments: [{ name: "topic", required: true }, { name: "tone" }],
    complete: { tone: (value) => offer.startingWith(offer.TONES, value) },
  },
  ({ topic, tone }) => offer.brief(topic, tone),
);

if (process.argv[2] === "stdio") {
  await serveStdio(server);
} else {
  const http = await serveHttp(server, { port: 0 });
  console.log(process.argv[2] === "sse" ? new URL("/sse", http.url).href : http.url);
  process.once("SIGTERM", () => http.close());
}
