/** Clients that speak raw messages, one for each transport and era, so that one test body runs over all. */

import { PassThrough } from "node:stream";
import {
  type Channel,
  channelPair,
  type Era,
  eraOf,
  LineReader,
  META,
  REVISIONS,
  type Revision,
} from "@patchbay/core";
import type { McpServer } from "../src/server.ts";
import { serveFetch } from "../src/transports/fetch.ts";
import { serveHttp } from "../src/transports/http.ts";
import { serveStdio } from "../src/transports/stdio.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into messages of every shape
export type Json = Record<string, any>;

/** What a raw client can do. */
export interface Wire {
  era: Era;
  revision: Revision;
  /** What the server said to `initialize`; nothing in the modern era. */
  initialized: Json | undefined;
  /** Sends a request; resolves with the whole response message. */
  request(method: string, params?: Json, id?: string | number): Promise<Json>;
  notify(method: string, params?: Json): Promise<void>;
  /** Notifications that have come in, in order. */
  notifications: Json[];
  /** Resolves when one comes in that the test accepts. */
  notification(accept: (message: Json) => boolean): Promise<Json>;
  /** Answers what the server asks of its client. */
  onAsked: (request: Json) => Json;
  /** Sends a request and goes through its rounds: pushed requests are answered, `input_required` is sent again. */
  converse(method: string, params?: Json): Promise<Json>;
  /** How many rounds `converse` has taken in all. */
  rounds: number;
  /** Opens what a legacy client is told unasked on, where that is a stream of its own. */
  listen(): Promise<void>;
  /** Gives up a request, as the transport and era want it. */
  cancel(id: string | number): Promise<void>;
  close(): Promise<void>;
}

export const MODERN_META = {
  [META.protocolVersion]: "2026-07-28",
  [META.clientInfo]: { name: "test", version: "1" },
  [META.clientCapabilities]: { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} },
};

export const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} },
  clientInfo: { name: "test", version: "1" },
};

/** A modern client's rounds; a legacy client has none. */
async function converse(wire: Wire, method: string, params: Json): Promise<Json> {
  let extra = {};
  for (;;) {
    wire.rounds++;
    const response = await wire.request(method, { ...params, ...extra });
    if (response.result?.resultType !== "input_required") return response;
    const { inputRequests = {}, requestState } = response.result;
    const answers = Object.entries(inputRequests).map(([key, asked]) => [key, wire.onAsked(asked as Json)]);
    extra = { inputResponses: Object.fromEntries(answers), requestState };
  }
}

const TRANSPORTS: Record<string, (server: McpServer, revision: Revision) => Promise<Wire>> = {
  memory: (server, revision) => overChannel(memory(server), revision),
  stdio: (server, revision) => overChannel(stdio(server), revision),
  HTTP: async (server, revision) => {
    const { url, close } = await serveHttp(server, { port: 0 });
    return overHttp({ post: (init) => fetch(url, init), close }, revision);
  },
  fetch: (server, revision) => {
    const serving = serveFetch(server, { allowedHosts: ["mcp.test"] });
    const post = (init: RequestInit) => serving.fetch(new Request("https://mcp.test/mcp", init));
    return overHttp({ post, close: async () => serving.close() }, revision);
  },
  "HTTP+SSE": async (server, revision) => overChannel(await sse(server), revision),
};

export const WIRES: [name: string, open: (server: McpServer) => Promise<Wire>][] = Object.entries(
  TRANSPORTS,
).flatMap(([transport, open]) =>
  REVISIONS.filter((revision) => transport !== "HTTP+SSE" || eraOf(revision) === "legacy").map(
    (revision): [string, (server: McpServer) => Promise<Wire>] => [
      `${transport}, ${revision}`,
      (server) => open(server, revision),
    ],
  ),
);

export function memory(server: McpServer): Channel {
  const [client, served] = channelPair();
  server.serve(served);
  return client;
}

/** The client's end of two pipes, as a child process would have them. */
export function stdio(server: McpServer, options: { maxLineLength?: number } = {}): Channel {
  const input = new PassThrough();
  const output = new PassThrough();
  const served = serveStdio(server, { input, output, ...options });
  return {
    send: (text) => void input.write(`${text}\n`),
    listen(onMessage, onClose) {
      const lines = new LineReader(onMessage, () => {});
      output.setEncoding("utf8").on("data", (text: string) => lines.push(text));
      void served.then(() => onClose());
    },
    close: async () => {
      input.end();
      await served;
    },
  };
}

/** The client's end of HTTP+SSE. */
async function sse(server: McpServer): Promise<Channel> {
  const serving = await serveHttp(server, { port: 0 });
  const stream = await fetch(new URL("/sse", serving.url), { headers: { accept: "text/event-stream" } });
  const events = readEvents(stream);
  const { event, data } = (await events.next()).value as SseEvent;
  if (event !== "endpoint") throw new Error(`The first event is ${event}`);
  const endpoint = new URL(data, serving.url);
  let sent: Promise<unknown> = Promise.resolve();
  return {
    send(text) {
      const headers = { "content-type": "application/json" };
      sent = sent.then(() => fetch(endpoint, { method: "POST", headers, body: text }));
    },
    async listen(onMessage, onClose) {
      for await (const message of events) onMessage(message.data);
      onClose();
    },
    async close() {
      await sent;
      await serving.close();
    },
  };
}

export interface SseEvent {
  event: string | undefined;
  id: string | undefined;
  retry: string | undefined;
  data: string;
}

/** The events of a stream as they come; comments are passed over. */
export async function* readEvents(response: Response): AsyncGenerator<SseEvent> {
  let text = "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString("utf8");
    const blocks = text.split("\n\n");
    text = blocks.pop() as string;
    for (const block of blocks) {
      // Not by a regular expression: its lines end at U+2028 too, those of a stream do not.
      const lines = block.split("\n");
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const event = {
        event: field("event"),
        id: field("id"),
        retry: field("retry"),
        data: field("data") ?? "",
      };
      if (block !== ":") yield event;
    }
  }
}

class Inbox {
  readonly notifications: Json[] = [];
  readonly #waiting = new Set<() => void>();

  add(message: Json): void {
    this.notifications.push(message);
    for (const check of this.#waiting) check();
  }

  take(accept: (message: Json) => boolean): Promise<Json> {
    return new Promise((resolve) => {
      const check = () => {
        const found = this.notifications.find(accept);
        if (found === undefined) return;
        this.#waiting.delete(check);
        resolve(found);
      };
      this.#waiting.add(check);
      check();
    });
  }
}

async function overChannel(channel: Channel, revision: Revision): Promise<Wire> {
  const era = eraOf(revision);
  const inbox = new Inbox();
  const pending = new Map<string | number, (message: Json) => void>();
  let nextId = 1;
  channel.listen(
    (text) => {
      const message = JSON.parse(text) as Json;
      if (message.method !== undefined && message.id !== undefined) {
        channel.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: wire.onAsked(message) }));
      } else if (message.method !== undefined) inbox.add(message);
      else {
        pending.get(message.id)?.(message);
        pending.delete(message.id);
      }
    },
    () => {},
  );
  const wire: Wire = {
    era,
    revision,
    initialized: undefined,
    rounds: 0,
    onAsked: () => ({}),
    converse: (method, params = {}) => converse(wire, method, params),
    notifications: inbox.notifications,
    notification: (accept) => inbox.take(accept),
    request: (method, params = {}, id = nextId++) =>
      new Promise((resolve) => {
        pending.set(id, resolve);
        channel.send(
          JSON.stringify({
            jsonrpc: "2.0",
            id,
            method,
            params: era === "modern" ? withMeta(params) : params,
          }),
        );
      }),
    notify: async (method, params = {}) => channel.send(JSON.stringify({ jsonrpc: "2.0", method, params })),
    listen: async () => {},
    cancel: (id) => wire.notify("notifications/cancelled", { requestId: id, reason: "test" }),
    close: () => channel.close(),
  };
  if (era === "legacy") {
    wire.initialized = await wire.request("initialize", { ...INITIALIZE, protocolVersion: revision });
    await wire.notify("notifications/initialized");
  }
  return wire;
}

function withMeta(params: Json): Json {
  return { ...params, _meta: { ...MODERN_META, ...params._meta } };
}

/** An HTTP server, and how requests get to it. */
interface HttpEnd {
  post(init: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

async function overHttp(end: HttpEnd, revision: Revision): Promise<Wire> {
  const era = eraOf(revision);
  const inbox = new Inbox();
  const aborts = new Map<string | number, AbortController>();
  let session: string | undefined;
  let nextId = 1;

  const sessionHeaders = () => ({
    ...(session !== undefined && { "mcp-session-id": session, "mcp-protocol-version": revision }),
  });

  async function post(message: Json): Promise<Json | undefined> {
    const abort = new AbortController();
    if (message.id !== undefined) aborts.set(message.id, abort);
    const name = message.params?.name ?? message.params?.uri ?? message.params?.taskId;
    const response = await end.post({
      method: "POST",
      signal: abort.signal,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(era === "modern" && { "mcp-protocol-version": "2026-07-28", "mcp-method": message.method }),
        ...(era === "modern" && name !== undefined && { "mcp-name": name }),
        ...sessionHeaders(),
      },
      body: JSON.stringify(message),
    });
    session ??= response.headers.get("mcp-session-id") ?? undefined;
    if (response.headers.get("content-type") !== "text/event-stream") {
      const text = await response.text();
      return text === "" ? undefined : JSON.parse(text);
    }
    return take(response);
  }

  /** Takes the messages of a stream; gives the last. */
  async function take(stream: Response): Promise<Json | undefined> {
    let last: Json | undefined;
    for await (const { data } of readEvents(stream)) {
      if (data === "") continue;
      last = JSON.parse(data) as Json;
      if (last.method !== undefined && last.id !== undefined) {
        await post({ jsonrpc: "2.0", id: last.id, result: wire.onAsked(last) });
      } else if (last.method !== undefined) inbox.add(last);
    }
    return last;
  }

  const wire: Wire = {
    era,
    revision,
    initialized: undefined,
    rounds: 0,
    onAsked: () => ({}),
    converse: (method, params = {}) => converse(wire, method, params),
    notifications: inbox.notifications,
    notification: (accept) => inbox.take(accept),
    request: async (method, params = {}, id = nextId++) =>
      (await post({
        jsonrpc: "2.0",
        id,
        method,
        params: era === "modern" ? withMeta(params) : params,
      })) as Json,
    notify: async (method, params = {}) => void (await post({ jsonrpc: "2.0", method, params })),
    async listen() {
      const headers = { accept: "text/event-stream", ...sessionHeaders() };
      void take(await end.post({ method: "GET", headers })).catch(() => {});
    },
    cancel: async (id) => {
      if (era === "modern") aborts.get(id)?.abort();
      else await wire.notify("notifications/cancelled", { requestId: id, reason: "test" });
    },
    close: () => end.close(),
  };
  if (era === "legacy") {
    wire.initialized = await wire.request("initialize", { ...INITIALIZE, protocolVersion: revision });
    await wire.notify("notifications/initialized");
  }
  return wire;
}
