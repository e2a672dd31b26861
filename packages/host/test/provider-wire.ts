/** Model providers on loopback: they speak the real protocols, follow a script, and refuse what the real ones refuse. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answer } from "./provider-answers.ts";
import { complaintAbout, type Protocol } from "./provider-rules.ts";

/** One reply of the script. */
export type Reply =
  | { text: string; thoughts?: string; calls?: Call[] }
  | { text?: undefined; thoughts?: string; calls: Call[] }
  | { status: number; body?: unknown; location?: string }
  /** Headers and a first piece, and then nothing. */
  | { stall: true }
  /** No answer at all. */
  | { hang: true };

export interface Call {
  id?: string;
  name: string;
  /** An object, or raw text that need not be JSON. */
  args: object | string;
}

// biome-ignore lint/suspicious/noExplicitAny: what was posted is asserted on member by member
export type Posted = any;

export interface ProviderWire {
  baseUrl: string;
  port: number;
  requests: { path: string; headers: IncomingMessage["headers"]; body: Posted }[];
  /** Resolves when the next request has come in. */
  arrived(): Promise<void>;
  close(): Promise<void>;
}

const BASES: Partial<Record<Protocol, string>> = {
  openai: "/v1",
  "openai-responses": "/v1",
  deepseek: "/v1",
};

/** Serves the script, a reply a request, in order. */
export async function serveProvider(protocol: Protocol, script: Reply[]): Promise<ProviderWire> {
  const requests: ProviderWire["requests"] = [];
  const waiting: (() => void)[] = [];
  const replies = [...script];
  const server = createServer(async (request, response) => {
    if (request.url === "/v1/models") {
      sendJson(response, 200, { object: "list", data: [{ id: "tiny", object: "model" }] });
      return;
    }
    const body = JSON.parse(await readAll(request));
    requests.push({ path: request.url ?? "", headers: request.headers, body });
    for (const resolve of waiting.splice(0)) resolve();
    const complaint = complaintAbout(protocol, body);
    const reply = complaint === undefined ? replies.shift() : { status: 400, body: error(complaint) };
    if (reply === undefined) sendJson(response, 500, error("the script has ended"));
    else if ("hang" in reply) return;
    else if ("status" in reply) {
      if (reply.location !== undefined) response.setHeader("location", reply.location);
      sendJson(response, reply.status, reply.body ?? error("no"));
    } else answer(protocol, { response, body, streams: streams(protocol, request.url ?? "", body) }, reply);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}${BASES[protocol] ?? ""}`,
    requests,
    arrived: () => new Promise((resolve) => waiting.push(resolve)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function streams(protocol: Protocol, url: string, body: Posted): boolean {
  if (protocol === "gemini") return url.includes(":streamGenerateContent");
  return protocol === "ollama" ? body.stream !== false : body.stream === true;
}

function error(message: string) {
  return { type: "error", error: { type: "invalid_request_error", message } };
}

async function readAll(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
