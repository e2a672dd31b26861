/** A scripted reply, written as each provider writes it, in one piece or as a stream. */

import type { ServerResponse } from "node:http";
import { type Protocol, SIGNATURE } from "./provider-rules.ts";
import type { Call, Posted, Reply } from "./provider-wire.ts";

export interface Asked {
  response: ServerResponse;
  body: Posted;
  streams: boolean;
}

type Spoken = Extract<Reply, { calls?: Call[] }> | { stall: true };
type Answer = (asked: Asked, reply: Spoken) => void;

/** Answers a request that passed. */
export function answer(protocol: Protocol, asked: Asked, reply: Spoken): void {
  ANSWERS[protocol](asked, reply);
}

const ANSWERS: Record<Protocol, Answer> = {
  openai: answerOpenAI,
  "openai-responses": answerResponses,
  deepseek: answerOpenAI,
  anthropic: answerAnthropic,
  gemini: answerGemini,
  ollama: answerOllama,
};

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function textOf(reply: Spoken): string | undefined {
  return "text" in reply ? reply.text : undefined;
}

function thoughtsOf(reply: Spoken): string | undefined {
  return "thoughts" in reply ? reply.thoughts : undefined;
}

function callsOf(reply: Spoken): (Required<Call> & { json: string })[] {
  return ("calls" in reply ? (reply.calls ?? []) : []).map((call, index) => ({
    ...call,
    id: call.id ?? `call_${index}`,
    json: typeof call.args === "string" ? call.args : JSON.stringify(call.args),
  }));
}

function answerOpenAI({ response, body, streams }: Asked, reply: Spoken): void {
  const tool_calls = callsOf(reply).map(({ id, name, json }) => ({
    id,
    type: "function",
    function: { name, arguments: json },
  }));
  const finish_reason = tool_calls.length > 0 ? "tool_calls" : "stop";
  const about = { id: "chatcmpl-1", created: 1, model: body.model };
  const text = textOf(reply);
  const thoughts = thoughtsOf(reply);
  if (!streams) {
    const message = {
      role: "assistant",
      content: text ?? null,
      ...(thoughts === undefined ? {} : { reasoning_content: thoughts }),
      ...(tool_calls.length > 0 ? { tool_calls } : {}),
    };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const choices = [{ index: 0, message, finish_reason }];
    sendJson(response, { ...about, object: "chat.completion", choices, usage });
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
  for (const piece of halves(thoughts ?? "")) send({ reasoning_content: piece });
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

function answerResponses({ response, body, streams }: Asked, reply: Spoken): void {
  const about = { id: "resp_1", object: "response", created_at: 1, model: body.model, error: null };
  const text = textOf(reply);
  const message = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: text ?? "", annotations: [] }],
  };
  const calls = callsOf(reply).map(({ id, name, json }, index) => ({
    type: "function_call",
    id: `fc_${index}`,
    call_id: id,
    name,
    arguments: json,
    status: "completed",
  }));
  const output = [...(text === undefined ? [] : [message]), ...calls];
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  if (!streams) {
    sendJson(response, { ...about, status: "completed", output, usage });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  let sequence_number = 0;
  const send = (type: string, data: object) =>
    response.write(
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...data })}\n\n`,
    );
  send("response.created", { response: { ...about, status: "in_progress", output: [] } });
  if ("stall" in reply) return;
  for (const [output_index, item] of output.entries()) {
    if ("call_id" in item) {
      send("response.output_item.added", {
        output_index,
        item: { ...item, arguments: "", status: "in_progress" },
      });
      for (const delta of halves(item.arguments)) {
        send("response.function_call_arguments.delta", { output_index, item_id: item.id, delta });
      }
    } else {
      send("response.output_item.added", {
        output_index,
        item: { ...item, content: [], status: "in_progress" },
      });
      for (const delta of halves(text ?? "")) {
        send("response.output_text.delta", { output_index, item_id: item.id, content_index: 0, delta });
      }
    }
    send("response.output_item.done", { output_index, item });
  }
  send("response.completed", { response: { ...about, status: "completed", output, usage } });
  response.end();
}

function answerAnthropic({ response, body, streams }: Asked, reply: Spoken): void {
  const calls = callsOf(reply);
  const text = textOf(reply);
  const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
  const usage = { input_tokens: 1, output_tokens: 1 };
  const about = { id: "msg_1", type: "message", role: "assistant", model: body.model };
  if (!streams) {
    const content = [
      ...(text === undefined ? [] : [{ type: "text", text }]),
      ...calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args })),
    ];
    sendJson(response, { ...about, content, stop_reason, stop_sequence: null, usage });
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

function answerGemini({ response, streams }: Asked, reply: Spoken): void {
  const text = textOf(reply);
  const calls = callsOf(reply).map(({ name, args }, index) => ({
    functionCall: { name, args },
    // Only the first call of a turn has one.
    ...(index === 0 ? { thoughtSignature: SIGNATURE } : {}),
  }));
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const candidate = (parts: object[], finishReason?: string) => ({
    candidates: [
      {
        index: 0,
        content: { role: "model", parts },
        ...(finishReason === undefined ? {} : { finishReason }),
      },
    ],
    usageMetadata,
  });
  if (!streams) {
    sendJson(response, candidate([...(text === undefined ? [] : [{ text }]), ...calls], "STOP"));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (value: object) => response.write(`data: ${JSON.stringify(value)}\r\n\r\n`);
  if ("stall" in reply) {
    send(candidate([{ text: "One moment" }]));
    return;
  }
  for (const piece of halves(text ?? "")) send(candidate([{ text: piece }]));
  for (const call of calls) send(candidate([call]));
  send(candidate([{ text: "" }], "STOP"));
  response.end();
}

function answerOllama({ response, body, streams }: Asked, reply: Spoken): void {
  const about = { model: body.model, created_at: "2026-01-01T00:00:00Z" };
  const text = textOf(reply);
  const tool_calls = callsOf(reply).map(({ name, args }) => ({ function: { name, arguments: args } }));
  const last = { done: true, done_reason: "stop", prompt_eval_count: 1, eval_count: 1 };
  if (!streams) {
    const message = {
      role: "assistant",
      content: text ?? "",
      ...(tool_calls.length > 0 ? { tool_calls } : {}),
    };
    sendJson(response, { ...about, message, ...last });
    return;
  }
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  const send = (message: object, more: object = { done: false }) =>
    response.write(
      `${JSON.stringify({ ...about, message: { role: "assistant", content: "", ...message }, ...more })}\n`,
    );
  if ("stall" in reply) {
    send({ content: "One moment" });
    return;
  }
  for (const piece of halves(text ?? "")) send({ content: piece });
  if (tool_calls.length > 0) send({ tool_calls });
  send({}, last);
  response.end();
}
