/** The offer, served by the official SDK v2 in both eras: `node sdk-v2.mjs stdio|http`. */

import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  completable,
  createMcpHandler,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { hang, tell, told } from "./happenings.mjs";
import * as offer from "./offer.mjs";

const say = (text) => ({ content: [{ type: "text", text }] });

function build() {
  const mcp = new McpServer(offer.INFO, {
    instructions: offer.INSTRUCTIONS,
    capabilities: { logging: {} },
  });

  mcp.registerTool(
    "echo",
    { description: "Says it again", inputSchema: z.object({ text: z.string() }) },
    ({ text }) => say(text),
  );
  mcp.registerTool(
    "add",
    {
      title: "Addition",
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => ({ ...say(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
  );
  mcp.registerTool("blocks", { description: "One block of each kind" }, () => ({ content: offer.BLOCKS }));
  mcp.registerTool("fail", {}, () => {
    throw new Error(offer.FAILURE);
  });
  mcp.registerTool(
    "count",
    { inputSchema: z.object({ to: z.number().int(), key: z.string() }) },
    async ({ to, key }, ctx) => {
      for (let step = 1; step <= to; step++) {
        await progress(ctx, step, to, `step ${step}`);
        await told(`${key} ${step}`);
      }
      return say(`counted to ${to}`);
    },
  );
  mcp.registerTool(
    "heard",
    { inputSchema: z.object({ key: z.string(), step: z.number().int() }) },
    ({ key, step }) => {
      tell(`${key} ${step}`);
      return { content: [] };
    },
  );
  mcp.registerTool("log", {}, async (ctx) => {
    await ctx.mcpReq.log("debug", "too quiet", "interop");
    await ctx.mcpReq.log("warning", { loud: true }, "interop");
    return say("logged");
  });
  mcp.registerTool("hang", { inputSchema: z.object({ key: z.string() }) }, async ({ key }, ctx) => {
    await progress(ctx, 1, undefined, "hanging");
    await hang(key, ctx.mcpReq.signal);
    return { content: [] };
  });
  mcp.registerTool("stopped", { inputSchema: z.object({ key: z.string() }) }, async ({ key }) => {
    await told(key);
    return say("stopped");
  });

  for (const { uri, name, mimeType, text } of offer.NOTES) {
    mcp.registerResource(name, uri, { mimeType }, () => ({ contents: [{ uri, mimeType, text }] }));
  }
  const blob = Buffer.from(offer.BLOB).toString("base64");
  const mimeType = "application/octet-stream";
  mcp.registerResource("blob", offer.BLOB_URI, { mimeType }, () => ({
    contents: [{ uri: offer.BLOB_URI, mimeType, blob }],
  }));
  mcp.registerResource(
    "greeting",
    new ResourceTemplate(offer.GREETING, {
      list: undefined,
      complete: { name: (value) => offer.startingWith(offer.NAMES, value) },
    }),
    {},
    (uri, { name }) => ({ contents: [{ uri: uri.href, text: offer.greet(name) }] }),
  );
  const resources = [
    ...offer.NOTES.map(({ text: _, ...definition }) => definition),
    { uri: offer.BLOB_URI, name: "blob", mimeType },
  ];
  mcp.server.setRequestHandler("resources/list", ({ params }) => {
    const { items, ...rest } = offer.pageOf(
      resources,
      params?.cursor,
      offer.NOTES_PER_PAGE,
      () => new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid cursor"),
    );
    return { resources: items, ...rest };
  });

  mcp.registerPrompt(
    "brief",
    {
      description: "A brief about something",
      argsSchema: z.object({
        topic: z.string(),
        tone: completable(z.string(), (value) => offer.startingWith(offer.TONES, value)).optional(),
      }),
    },
    ({ topic, tone }) => ({
      messages: [{ role: "user", content: { type: "text", text: offer.brief(topic, tone) } }],
    }),
  );
  return mcp;
}

async function progress({ mcpReq }, value, total, message) {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await mcpReq.notify({
    method: "notifications/progress",
    params: { progressToken, progress: value, total, message },
  });
}

if (process.argv[2] === "http") {
  const http = createServer(toNodeHandler(createMcpHandler(build)));
  http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
} else {
  serveStdio(build);
}
