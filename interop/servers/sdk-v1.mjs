/** The offer, served by the official SDK v1: `node sdk-v1.mjs stdio|http|sse`. */

import { InMemoryTaskMessageQueue, InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  ErrorCode,
  ListResourcesRequestSchema,
  McpError,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { hang, tell, told } from "./happenings.mjs";
import { serveHttp, serveSse } from "./http-sdk-v1.mjs";
import * as offer from "./offer.mjs";
import { offerQuestions } from "./questions-sdk-v1.mjs";

/** Every session has a server of its own; a change is one of all. */
const sessions = new Set();

const say = (text) => ({ content: [{ type: "text", text }] });

function build() {
  const mcp = new McpServer(offer.INFO, {
    instructions: offer.INSTRUCTIONS,
    capabilities: {
      logging: {},
      resources: { subscribe: true },
      tasks: { requests: { tools: { call: {} } } },
    },
    taskStore: new InMemoryTaskStore(),
    taskMessageQueue: new InMemoryTaskMessageQueue(),
  });
  offerChanges(mcp);
  let logsDebug = true;
  mcp.server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
    logsDebug = params.level === "debug";
    return {};
  });

  mcp.registerTool("echo", { description: "Says it again", inputSchema: { text: z.string() } }, ({ text }) =>
    say(text),
  );
  mcp.registerTool(
    "add",
    {
      title: "Addition",
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
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
    { inputSchema: { to: z.number().int(), key: z.string() } },
    async ({ to, key }, extra) => {
      for (let step = 1; step <= to; step++) {
        await progress(extra, step, to, `step ${step}`);
        await told(`${key} ${step}`);
      }
      return say(`counted to ${to}`);
    },
  );
  mcp.registerTool("heard", { inputSchema: { key: z.string(), step: z.number().int() } }, ({ key, step }) => {
    tell(`${key} ${step}`);
    return { content: [] };
  });
  mcp.registerTool("log", {}, async (extra) => {
    if (logsDebug) await log(extra, "debug", "too quiet");
    await log(extra, "warning", { loud: true });
    return say("logged");
  });
  mcp.registerTool("hang", { inputSchema: { key: z.string() } }, async ({ key }, extra) => {
    await progress(extra, 1, undefined, "hanging");
    await hang(key, extra.signal);
    return { content: [] };
  });
  mcp.registerTool("stopped", { inputSchema: { key: z.string() } }, async ({ key }) => {
    await told(key);
    return say("stopped");
  });
  mcp.registerTool("change", {}, () => {
    for (const change of sessions) change();
    return { content: [] };
  });
  offerQuestions(mcp);
  mcp.registerTool("detach", { inputSchema: { key: z.string() } }, async ({ key }, extra) => {
    await progress(extra, 1, 3, "step 1");
    await told(`${key} 1`);
    extra.closeSSEStream?.();
    await progress(extra, 2, 3, "step 2");
    tell(`${key} detached`);
    await told(`${key} 2`);
    await progress(extra, 3, 3, "step 3");
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
  mcp.server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => {
    const { items, ...rest } = offer.pageOf(
      resources,
      params?.cursor,
      offer.NOTES_PER_PAGE,
      () => new McpError(ErrorCode.InvalidParams, "Invalid cursor"),
    );
    return { resources: items, ...rest };
  });

  mcp.registerPrompt(
    "brief",
    {
      description: "A brief about something",
      argsSchema: {
        topic: z.string(),
        tone: completable(z.string().optional(), (value = "") => offer.startingWith(offer.TONES, value)),
      },
    },
    ({ topic, tone }) => ({
      messages: [{ role: "user", content: { type: "text", text: offer.brief(topic, tone) } }],
    }),
  );
  return mcp;
}

async function progress(extra, value, total, message) {
  const progressToken = extra._meta?.progressToken;
  if (progressToken === undefined) return;
  await extra.sendNotification({
    method: "notifications/progress",
    params: { progressToken, progress: value, total, message },
  });
}

/** With the request: `sendLoggingMessage` would put it on the session's own stream over HTTP. */
function log(extra, level, data) {
  return extra.sendNotification({
    method: "notifications/message",
    params: { level, logger: "interop", data },
  });
}

function offerChanges(mcp) {
  const watched = new Set();
  mcp.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    watched.add(params.uri);
    return {};
  });
  mcp.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    watched.delete(params.uri);
    return {};
  });
  const change = () => {
    mcp.sendToolListChanged();
    mcp.sendPromptListChanged();
    mcp.sendResourceListChanged();
    for (const { uri } of offer.NOTES) if (watched.has(uri)) void mcp.server.sendResourceUpdated({ uri });
  };
  sessions.add(change);
  mcp.server.onclose = () => sessions.delete(change);
}

const [, , how] = process.argv;
if (how === "http") serveHttp(build);
else if (how === "sse") serveSse(build);
else await build().connect(new StdioServerTransport());
