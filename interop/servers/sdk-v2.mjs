/** The offer, served by the official SDK v2 in both eras: `node sdk-v2.mjs stdio|http`. */

import {
  completable,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { hang, tell, told } from "./happenings.mjs";
import { serveHttp } from "./http-sdk-v2.mjs";
import * as offer from "./offer.mjs";
import { offerQuestions, requestState } from "./questions-sdk-v2.mjs";

/** Every legacy session has a server of its own; a change is one of all, and of those who listen. */
const sessions = new Set();
let notify;

const say = (text) => ({ content: [{ type: "text", text }] });

function build({ era }) {
  const mcp = new McpServer(offer.INFO, {
    instructions: offer.INSTRUCTIONS,
    capabilities: { logging: {}, resources: { subscribe: true } },
    requestState,
  });
  // Over HTTP a modern request has a server of its own, which nobody listens to.
  if (era === "legacy" || notify === undefined) offerChanges(mcp, era);

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
  mcp.registerTool("change", {}, () => {
    for (const change of sessions) change();
    notify?.toolsChanged();
    notify?.promptsChanged();
    notify?.resourcesChanged();
    for (const { uri } of offer.NOTES) notify?.resourceUpdated(uri);
    return { content: [] };
  });
  offerQuestions(mcp);
  mcp.registerTool("detach", { inputSchema: z.object({ key: z.string() }) }, async ({ key }, ctx) => {
    await progress(ctx, 1, 3, "step 1");
    await told(`${key} 1`);
    ctx.http?.closeSSE?.();
    await progress(ctx, 2, 3, "step 2");
    tell(`${key} detached`);
    await told(`${key} 2`);
    await progress(ctx, 3, 3, "step 3");
    await told(`${key} 3`);
    return say("came back");
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

function offerChanges(mcp, era) {
  const watched = new Set();
  if (era === "legacy") {
    mcp.server.setRequestHandler("resources/subscribe", ({ params }) => {
      watched.add(params.uri);
      return {};
    });
    mcp.server.setRequestHandler("resources/unsubscribe", ({ params }) => {
      watched.delete(params.uri);
      return {};
    });
  }
  const change = () => {
    mcp.sendToolListChanged();
    mcp.sendPromptListChanged();
    mcp.sendResourceListChanged();
    for (const { uri } of offer.NOTES) {
      if (era === "modern" || watched.has(uri)) void mcp.server.sendResourceUpdated({ uri });
    }
  };
  sessions.add(change);
  mcp.server.onclose = () => sessions.delete(change);
}

if (process.argv[2] === "http") notify = serveHttp(build);
else serveStdio(build);
