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
import { serveHttp } from "../src/transports/http.ts";
import { serveStdio } from "../src/transports/stdio.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into messages of every shape
export type Json = Record<string, any>;

/** What a raw client can do. */
export interface Wire {
  era: Era;
  revision: Revision;
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
  HTTP: (server, revision) => overHttp(server, revision),
};

export const WIRES: [name: string, open: (server: McpServer) => Promise<Wire>][] = Object.entries(
  TRANSPORTS,
).flatMap(([transport, open]) =>
  REVISIONS.map((revision): [string, (server: McpServer) => Promise<Wire>] => [
    `${transport}, ${revision}`,
    (server) => open(server, revision),
  ]),
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
    cancel: (id) => wire.notify("notifications/cancelled", { requestId: id, reason: "test" }),
    close: () => channel.close(),
  };
  if (era === "legacy") {
    await wire.request("initialize", { ...INITIALIZE, protocolVersion: revision });
    await wire.notify("notifications/initialized");
  }
  return wire;
}

function withMeta(params: Json): Json {
  return { ...params, _meta: { ...MODERN_META, ...params._meta } };
}

async function overHttp(server: McpServer, revision: Revision): Promise<Wire> {
  const era = eraOf(revision);
  const serving = await serveHttp(server, { port: 0 });
  const inbox = new Inbox();
  const aborts = new Map<string | number, AbortController>();
  let session: string | undefined;
  let nextId = 1;

  async function post(message: Json): Promise<Json | undefined> {
    const abort = new AbortController();
    if (message.id !== undefined) aborts.set(message.id, abort);
    const name = message.params?.name ?? message.params?.uri;
    const response = await fetch(serving.url, {
      method: "POST",
      signal: abort.signal,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(era === "modern" && { "mcp-protocol-version": "2026-07-28", "mcp-method": message.method }),
        ...(era === "modern" && name !== undefined && { "mcp-name": name }),
        ...(session !== undefined && { "mcp-session-id": session, "mcp-protocol-version": revision }),
      },
      body: JSON.stringify(message),
    });
    session ??= response.headers.get("mcp-session-id") ?? undefined;
    if (response.headers.get("content-type") !== "text/event-stream") {
      const text = await response.text();
      return text === "" ? undefined : JSON.parse(text);
    }
    let text = "";
    let last: Json | undefined;
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString("utf8");
      const events = text.split("\n\n");
      text = events.pop() as string;
      for (const event of events) {
        const data = /^data: (.+)$/m.exec(event)?.[1];
        if (data === undefined) continue;
        last = JSON.parse(data);
        if (last?.method !== undefined && last.id !== undefined) {
          await post({ jsonrpc: "2.0", id: last.id, result: wire.onAsked(last) });
        } else if (last?.method !== undefined) inbox.add(last);
      }
    }
    return last;
  }

  const wire: Wire = {
    era,
    revision,
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
    cancel: async (id) => {
      if (era === "modern") aborts.get(id)?.abort();
      else await wire.notify("notifications/cancelled", { requestId: id, reason: "test" });
    },
    close: () => serving.close(),
  };
  if (era === "legacy") {
    await wire.request("initialize", { ...INITIALIZE, protocolVersion: revision });
    await wire.notify("notifications/initialized");
  }
  return wire;
}
