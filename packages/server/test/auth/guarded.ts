/** A server that asks for tokens, and raw requests to it. */

import { z } from "zod";
import { McpServer, type McpServerOptions } from "../../src/index.ts";
import { type HttpOptions, type HttpServing, serveHttp } from "../../src/transports/http.ts";
import { HEADERS } from "../streamable.ts";
import { INITIALIZE, type Json, MODERN_META, readEvents } from "../wire.ts";

/** Tells who asks, keeps, asks back, takes its time. */
export function whoami(options: McpServerOptions = {}): McpServer {
  const server = new McpServer({ name: "whoami", version: "1.0.0" }, { onError: () => {}, ...options });
  server.tool("whoami", {}, (_, { auth }) => JSON.stringify(auth ?? null));
  server.tool("sure", { input: z.object({ of: z.string() }) }, async ({ of }, ctx) => {
    const answer = await ctx.elicit(`Sure of ${of}?`, z.object({ sure: z.boolean() }));
    return `${ctx.auth?.subject}: ${answer.action}`;
  });
  server.tool("slow", { task: true }, async (_, ctx) => {
    const answer = await ctx.elicit("Go on?", z.object({ go: z.boolean() }));
    return `${ctx.auth?.subject}: ${answer.action}`;
  });
  return server;
}

export async function guarded(server: McpServer, auth: HttpOptions["auth"], options: HttpOptions = {}) {
  return serveHttp(server, { port: 0, ...(auth && { auth }), ...options });
}

export function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

export function modern(
  { url }: Pick<HttpServing, "url">,
  token: string | undefined,
  method: string,
  params: Json = {},
  signal?: AbortSignal,
): Promise<Response> {
  const name = params.name ?? params.uri ?? params.taskId;
  return fetch(url, {
    method: "POST",
    headers: {
      ...HEADERS,
      ...bearer(token),
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(name !== undefined && { "mcp-name": name }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: { ...params, _meta: { ...MODERN_META, ...params._meta } },
    }),
    ...(signal && { signal }),
  });
}

/** The message that answers. */
export async function answerOf(response: Response | Promise<Response>): Promise<Json> {
  const given = await response;
  if (!given.headers.get("content-type")?.startsWith("text/event-stream"))
    return (await given.json()) as Json;
  let last: Json = {};
  for await (const { data } of readEvents(given)) if (data !== "") last = JSON.parse(data);
  return last;
}

export interface LegacyUser {
  id: string;
  post(message: Json | Json[], token?: string): Promise<Response>;
  get(token?: string, headers?: Record<string, string>): Promise<Response>;
  delete(token?: string): Promise<Response>;
}

/** Opens a session of 2025-11-25, or of another revision. */
export async function legacy(
  { url }: Pick<HttpServing, "url">,
  token: string | undefined,
  protocolVersion = "2025-11-25",
): Promise<LegacyUser> {
  let session: Record<string, string> = {};
  const request = (
    method: string,
    own: string | undefined,
    headers: Record<string, string>,
    body?: Json | Json[],
  ) =>
    fetch(url, {
      method,
      headers: { ...HEADERS, ...session, ...bearer(own), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
  const params = { ...INITIALIZE, protocolVersion };
  const opened = await request("POST", token, {}, { jsonrpc: "2.0", id: 0, method: "initialize", params });
  const id = opened.headers.get("mcp-session-id");
  if (id === null) throw new Error(`${opened.status} ${await opened.text()}`);
  await opened.text();
  session = { "mcp-session-id": id, "mcp-protocol-version": protocolVersion };
  return {
    id,
    post: (message, own = token) => request("POST", own, {}, message),
    get: (own = token, headers = {}) => request("GET", own, { accept: "text/event-stream", ...headers }),
    delete: (own = token) => request("DELETE", own, {}),
  };
}

export function call(id: number | string, name: string, args: Json = {}, others: Json = {}): Json {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, ...others } };
}

export function textOf(message: Json): string {
  return message.result?.content?.[0]?.text;
}
