/** The offer, served by the official SDK v1: `node sdk-v1.mjs stdio|http`. */

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  ErrorCode,
  ListResourcesRequestSchema,
  McpError,
  SetLevelRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { hang, tell, told } from "./happenings.mjs";
import * as offer from "./offer.mjs";

const say = (text) => ({ content: [{ type: "text", text }] });

function build() {
  const mcp = new McpServer(offer.INFO, {
    instructions: offer.INSTRUCTIONS,
    capabilities: { logging: {} },
  });
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

if (process.argv[2] === "http") {
  const transports = new Map();
  const http = createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    let transport = transports.get(id);
    if (transport === undefined) {
      if (id !== undefined) return void response.writeHead(404).end();
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => transports.set(session, transport),
        onsessionclosed: (session) => transports.delete(session),
      });
      await build().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
} else {
  await build().connect(new StdioServerTransport());
}
