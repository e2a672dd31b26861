/** Model providers on loopback: they speak the real protocols, follow a script, and refuse what the real ones refuse. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One reply of the script. */
export type Reply =
  | { text: string; calls?: Call[] }
  | { text?: undefined; calls: Call[] }
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

type Protocol = "openai" | "anthropic";

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
    const complaint = protocol === "openai" ? openAIComplaint(body) : anthropicComplaint(body);
    const reply = complaint === undefined ? replies.shift() : { status: 400, body: error(complaint) };
    if (reply === undefined) sendJson(response, 500, error("the script has ended"));
    else if ("hang" in reply) return;
    else if ("status" in reply) {
      if (reply.location !== undefined) response.setHeader("location", reply.location);
      sendJson(response, reply.status, reply.body ?? error("no"));
    } else if (protocol === "openai") answerOpenAI(response, body, reply);
    else answerAnthropic(response, body, reply);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}${protocol === "openai" ? "/v1" : ""}`,
    requests,
    arrived: () => new Promise((resolve) => waiting.push(resolve)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
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

/** What OpenAI would answer 400 to. */
function openAIComplaint({ messages, tools = [] }: Posted): string | undefined {
  for (const { function: each } of tools) {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(each.name)) return `bad tool name ${each.name}`;
    if (each.parameters?.type !== "object" || each.parameters.properties === undefined)
      return "object without properties";
    if (["oneOf", "anyOf", "allOf", "enum", "not"].some((keyword) => keyword in each.parameters))
      return "combinator at the root";
    const bad = arrayWithoutItems(each.parameters);
    if (bad) return "array schema missing items";
  }
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role === "tool") {
      if (
        typeof message.content !== "string" &&
        message.content.some((part: Posted) => part.type !== "text")
      ) {
        return "tool messages are text only";
      }
      if (!open.delete(message.tool_call_id)) return "a tool message without its call";
    } else {
      if (open.size > 0) return "tool_calls must be followed by tool messages";
      for (const call of message.tool_calls ?? []) open.add(call.id);
    }
  }
  return open.size > 0 ? "tool_calls must be followed by tool messages" : undefined;
}

function arrayWithoutItems(schema: Posted): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  if (schema.type === "array" && schema.items === undefined) return true;
  return Object.values(schema).some(arrayWithoutItems);
}

/** What Anthropic would answer 400 to. */
function anthropicComplaint({ messages, tools = [], max_tokens }: Posted): string | undefined {
  if (!Number.isInteger(max_tokens)) return "max_tokens: required";
  for (const { name, input_schema: schema } of tools) {
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) return `bad tool name ${name}`;
    if (schema?.type !== "object") return "input_schema.type: required";
    if ("oneOf" in schema || "anyOf" in schema || "allOf" in schema)
      return "input_schema: no combinator at the root";
  }
  let open: string[] = [];
  for (const { role, content } of messages) {
    const blocks: Posted[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const results = blocks.filter(({ type }) => type === "tool_result").map((block) => block.tool_use_id);
    if (role === "user" && open.some((id) => !results.includes(id)))
      return "tool_use without tool_result right after";
    if (results.some((id) => !open.includes(id))) return "tool_result without tool_use";
    if (blocks.some((block) => block.type === "text" && block.text === ""))
      return "text blocks must be non-empty";
    open = role === "assistant" ? blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id) : [];
  }
  return undefined;
}

type Spoken = Extract<Reply, { calls?: Call[] }> | { stall: true };

function callsOf(reply: Spoken): (Required<Call> & { json: string })[] {
  return ("calls" in reply ? (reply.calls ?? []) : []).map((call, index) => ({
    ...call,
    id: call.id ?? `call_${index}`,
    json: typeof call.args === "string" ? call.args : JSON.stringify(call.args),
  }));
}

function answerOpenAI(response: ServerResponse, body: Posted, reply: Spoken): void {
  const tool_calls = callsOf(reply).map(({ id, name, json }) => ({
    id,
    type: "function",
    function: { name, arguments: json },
  }));
  const finish_reason = tool_calls.length > 0 ? "tool_calls" : "stop";
  const about = { id: "chatcmpl-1", created: 1, model: body.model };
  const text = "text" in reply ? reply.text : undefined;
  if (body.stream !== true) {
    const message = {
      role: "assistant",
      content: text ?? null,
      ...(tool_calls.length > 0 ? { tool_calls } : {}),
    };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    sendJson(response, 200, {
      ...about,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason }],
      usage,
    });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: object, finish: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ ...about, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  send({ role: "assistant", content: "" });
  if ("stall" in reply) {
    send({ content: "One moment" });
    return;
  }
  for (const piece of halves(text ?? "")) send({ content: piece });
  tool_calls.forEach((call, index) => {
    send({
      tool_calls: [
        { index, id: call.id, type: "function", function: { name: call.function.name, arguments: "" } },
      ],
    });
    for (const piece of halves(call.function.arguments))
      send({ tool_calls: [{ index, function: { arguments: piece } }] });
  });
  send({}, finish_reason);
  response.end("data: [DONE]\n\n");
}

function answerAnthropic(response: ServerResponse, body: Posted, reply: Spoken): void {
  const calls = callsOf(reply);
  const text = "text" in reply ? reply.text : undefined;
  const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
  const usage = { input_tokens: 1, output_tokens: 1 };
  const about = { id: "msg_1", type: "message", role: "assistant", model: body.model };
  if (body.stream !== true) {
    const content = [
      ...(text === undefined ? [] : [{ type: "text", text }]),
      ...calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args })),
    ];
    sendJson(response, 200, { ...about, content, stop_reason, stop_sequence: null, usage });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  send("message_start", {
    message: { ...about, content: [], stop_reason: null, stop_sequence: null, usage },
  });
  let index = 0;
  if (text !== undefined) {
    send("content_block_start", { index, content_block: { type: "text", text: "" } });
    for (const piece of halves(text))
      send("content_block_delta", { index, delta: { type: "text_delta", text: piece } });
    send("content_block_stop", { index: index++ });
  }
  if ("stall" in reply) return;
  for (const { id, name, json } of calls) {
    send("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } });
    for (const piece of halves(json)) {
      send("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: piece } });
    }
    send("content_block_stop", { index: index++ });
  }
  send("message_delta", { delta: { stop_reason, stop_sequence: null }, usage });
  send("message_stop", {});
  response.end();
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}
