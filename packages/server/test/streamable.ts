/** A raw client of Streamable HTTP in its legacy shape, and a server whose calls do what a test tells them. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { McpServer } from "../src/index.ts";
import { createEndpoint, type Endpoint, type EndpointOptions } from "../src/transports/http/endpoint.ts";
import { NodeExchange } from "../src/transports/http/node.ts";
import { INITIALIZE, type Json, readEvents, type SseEvent } from "./wire.ts";

/** An endpoint on a server of its own, to look into. */
export interface Mounted {
  url: string;
  port: number;
  endpoint: Endpoint;
  close(): Promise<void>;
}

export async function mount(server: McpServer, options: EndpointOptions = {}): Promise<Mounted> {
  const endpoint = createEndpoint(server, "127.0.0.1", options);
  const http = createServer((request, response) => endpoint.handle(new NodeExchange(request, response)));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    endpoint,
    async close() {
      endpoint.end();
      endpoint.stop();
      const closed = new Promise((resolve) => http.close(resolve));
      http.closeAllConnections();
      await closed;
    },
  };
}

export const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

/** The events of a response, one after the other. */
export class Events {
  readonly #events: AsyncGenerator<SseEvent>;

  constructor(response: Response) {
    if (response.headers.get("content-type") !== "text/event-stream") {
      throw new Error(`${response.status} ${response.headers.get("content-type")}`);
    }
    this.#events = readEvents(response);
  }

  /** The next event; nothing at the end. */
  async next(): Promise<SseEvent | undefined> {
    const { done, value } = await this.#events.next();
    return done ? undefined : value;
  }

  /** The next message. */
  async message(): Promise<Json> {
    for (;;) {
      const event = await this.next();
      if (event === undefined) throw new Error("The stream has ended");
      if (event.data !== "") return JSON.parse(event.data);
    }
  }

  /** All that comes until the end. */
  async rest(): Promise<SseEvent[]> {
    const all: SseEvent[] = [];
    for await (const event of this.#events) all.push(event);
    return all;
  }
}

export interface SessionClient {
  id: string;
  post(message: Json | Json[], signal?: AbortSignal): Promise<Response>;
  call(id: number | string, name: string, args?: Json, signal?: AbortSignal): Promise<Response>;
  get(lastEventId?: string, signal?: AbortSignal): Promise<Response>;
  delete(): Promise<Response>;
}

/** Opens a session. */
export async function openSession(url: string, revision = "2025-11-25"): Promise<SessionClient> {
  const params = { ...INITIALIZE, protocolVersion: revision };
  const response = await fetch(url, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify({ jsonrpc: "2.0", id: "init", method: "initialize", params }),
  });
  await response.text();
  return sessionAt(url, response.headers.get("mcp-session-id") as string, revision);
}

/** A session that was opened before, at this URL. */
export function sessionAt(url: string, id: string, revision = "2025-11-25"): SessionClient {
  const session = { "mcp-session-id": id, "mcp-protocol-version": revision };
  const client: SessionClient = {
    id,
    post: (message, signal) =>
      fetch(url, {
        method: "POST",
        headers: { ...HEADERS, ...session },
        body: JSON.stringify(message),
        ...(signal && { signal }),
      }),
    call: (callId, name, args = {}, signal) =>
      client.post(
        {
          jsonrpc: "2.0",
          id: callId,
          method: "tools/call",
          params: { name, arguments: args, _meta: { progressToken: callId } },
        },
        signal,
      ),
    get: (lastEventId, signal) =>
      fetch(url, {
        headers: {
          accept: "text/event-stream",
          ...session,
          ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
        },
        ...(signal && { signal }),
      }),
    delete: () => fetch(url, { method: "DELETE", headers: session }),
  };
  return client;
}

/** What a call is told to do: report progress, ask, let go of its connection, be there, end. */
type Step = number | "ask" | "detach" | "ready" | "end";

/** Tells a call what to do, step by step. */
export class Script {
  readonly #steps: { step: Step; taken: () => void }[] = [];
  #wake: () => void = () => {};
  /** Resolves when the call is cancelled. */
  readonly cancelled: Promise<unknown>;
  cancel!: (reason: unknown) => void;

  constructor() {
    this.cancelled = new Promise((resolve) => {
      this.cancel = resolve;
    });
  }

  /** Resolves when the call has done it, or has begun to, if it is to ask. */
  tell(step: Step): Promise<void> {
    return new Promise((taken) => {
      this.#steps.push({ step, taken });
      this.#wake();
    });
  }

  async next(): Promise<{ step: Step; taken: () => void }> {
    for (;;) {
      const next = this.#steps.shift();
      if (next !== undefined) return next;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** A server with a tool `works` that follows the script of its name. */
export function scripted(): { server: McpServer; script: (name: string) => Script } {
  const scripts = new Map<string, Script>();
  const script = (name: string): Script => {
    const known = scripts.get(name) ?? new Script();
    scripts.set(name, known);
    return known;
  };
  const server = new McpServer({ name: "scripted", version: "1" }, { offers: ["prompts"], onError: () => {} })
    .tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => text)
    .tool("later", { input: z.object({ text: z.string() }) }, async ({ text }) => {
      await new Promise(setImmediate);
      return text;
    })
    .tool("works", { input: z.object({ name: z.string() }) }, async ({ name }, ctx) => {
      const own = script(name);
      ctx.signal.addEventListener("abort", () => own.cancel(ctx.signal.reason));
      for (;;) {
        const { step, taken } = await own.next();
        if (typeof step === "number") ctx.progress(step, undefined, name);
        if (step === "detach") ctx.detach(7);
        if (step === "ask") {
          const asked = ctx.elicit("Go on?", z.object({ yes: z.boolean() }));
          taken();
          const { action } = await asked;
          ctx.progress(1000, undefined, action);
        }
        taken();
        if (step === "end") return `${name} done`;
      }
    })
    .resource("test://watched", { name: "watched" }, () => "w");
  return { server, script };
}

/** What a message says, shortly. */
export function gist(event: SseEvent | Json): string {
  const message = "data" in event && typeof event.data === "string" ? said(event.data) : event;
  if (message === undefined) return "primer";
  const { method, params, result, id } = message as Json;
  if (method === "notifications/progress") return `progress ${params.progress}`;
  if (method !== undefined) return method;
  return `answer ${id}: ${result?.content?.[0]?.text ?? JSON.stringify(result)}`;
}

function said(data: string): Json | undefined {
  return data === "" ? undefined : (JSON.parse(data) as Json);
}

/** Waits for something that no event tells of. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(setImmediate);
}
