/** A recorded turn: one JSON object a line, from the question to the answer, with all that passed between. */

import { isObject, type JsonObject, type JsonValue } from "@patchbay/core";
import type { ApprovalRules } from "../consent/rules.ts";
import type { HostEvent, Usage } from "../events.ts";
import type { ReplySettings } from "../models/model.ts";
import type { AskedMessage } from "../question.ts";
import type { ProviderName } from "../settings.ts";
import { TOOL_FORMATS } from "../tools/formats.ts";

/** What a model is told, or tells, in the words of no provider. */
export interface RecordedMessage {
  role: "user" | "assistant" | "tool" | "system";
  content: JsonValue;
  toolCalls?: { id?: string; name: string; arguments: JsonValue }[];
  /** Of a tool's result: the call that it is of. */
  toolCallId?: string;
  isError?: boolean;
}

/** A reply, with what is needed to say it again. */
export interface RecordedReply extends RecordedMessage {
  role: "assistant";
  /** Calls whose arguments are no JSON. */
  invalidToolCalls?: JsonValue[];
  /** What the provider wants to have back, such as its reasoning. */
  extra?: JsonObject;
}

/** The first line. */
export interface RecordingHead {
  type: "recording";
  version: 1;
  /** When the question was asked (ISO 8601). */
  startedAt: string;
  model: { provider: ProviderName; name: string; label: string };
  servers: string[];
  /** What was allowed and denied without asking. */
  rules?: ApprovalRules;
}

/** All but the first line say when they were: milliseconds since the question; below 0 for what was before it. */
export type RecordingEntry = { at: number } & (
  | {
      type: "question";
      /** What the user wrote. */
      text: string;
      /** All of it, where servers' prompts and resources are part of it. */
      messages?: readonly AskedMessage[];
    }
  | {
      type: "model_request";
      /** Tells it apart from others that wait for their reply at the same time. */
      request: number;
      system: string;
      messages: RecordedMessage[];
      /** The names of the tools that are offered. */
      tools: string[];
      settings?: ReplySettings;
    }
  | {
      type: "model_reply";
      request: number;
      milliseconds: number;
      message: RecordedReply;
      ok: boolean;
      usage?: Usage;
    }
  | { type: "model_failure"; request: number; milliseconds: number; reason: string }
  | {
      type: "message";
      server: string;
      direction: "sent" | "received";
      /** Of its JSON. */
      bytes: number;
      message: JsonObject;
    }
  | { type: "event"; event: HostEvent }
  | { type: "failure"; reason: string }
  /** What came after was not kept: it would have passed `maxRecordingBytes`. */
  | { type: "truncated"; limit: number }
);

export interface Recording {
  head: RecordingHead;
  entries: RecordingEntry[];
}

/** What each kind of entry has to have, besides when it was: whoever replays it reads what somebody may have written by hand. */
const FORMS: Readonly<Record<RecordingEntry["type"], (entry: JsonObject) => boolean>> = {
  question: ({ text }) => typeof text === "string",
  model_request: ({ messages }) => Array.isArray(messages) && messages.every(isMessage),
  model_reply: ({ message }) => isMessage(message) && isReply(message),
  model_failure: ({ reason }) => typeof reason === "string",
  message: ({ server, direction, message }) =>
    typeof server === "string" && (direction === "sent" || direction === "received") && isObject(message),
  event: ({ event }) => isObject(event) && isEvent(event),
  failure: ({ reason }) => typeof reason === "string",
  truncated: () => true,
};

function isMessage(value: unknown): value is JsonObject {
  return isObject(value) && typeof value.role === "string";
}

function isReply({ content, toolCalls = [], invalidToolCalls = [], extra = {} }: JsonObject): boolean {
  const isContent = typeof content === "string" || (Array.isArray(content) && content.every(isObject));
  const isCall = (call: unknown) =>
    isObject(call) && typeof call.name === "string" && isObject(call.arguments);
  const areCalls = Array.isArray(toolCalls) && toolCalls.every(isCall);
  return isContent && areCalls && Array.isArray(invalidToolCalls) && isObject(extra);
}

/** The events that a replay looks into. */
function isEvent({ type, request, text }: JsonObject): boolean {
  if (type === "approval") return isObject(request) && typeof request.kind === "string";
  return typeof type === "string" && (!["tool_end", "answer"].includes(type) || typeof text === "string");
}

const PROVIDERS = new Set<unknown>([...TOOL_FORMATS, "local", "rules"]);

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isEntry(entry: JsonObject): boolean {
  const { type } = entry;
  return (
    typeof type === "string" && Object.hasOwn(FORMS, type) && FORMS[type as RecordingEntry["type"]](entry)
  );
}

/**
 * Reads a recording. A last line that was cut off, by a crash, is left out.
 *
 * @throws Error that names the line which is none
 */
export function parseRecording(text: string): Recording {
  const lines = text.split("\n");
  const isWhole = lines.at(-1) === "";
  if (isWhole) lines.pop();
  const [head, ...entries] = lines.flatMap((line, index): unknown[] => {
    try {
      return [JSON.parse(line)];
    } catch {
      if (!isWhole && index === lines.length - 1 && index > 0) return [];
      throw new Error(`line ${index + 1} is not JSON`);
    }
  });
  if (!isObject(head) || head.type !== "recording")
    throw new Error("this is no recording: its first line does not say so");
  if (head.version !== 1)
    throw new Error(`it is of version ${String(head.version)}, and only version 1 is known`);
  const { model, servers } = head;
  const isModel = isObject(model) && [model.name, model.label].every(isText) && PROVIDERS.has(model.provider);
  if (!isModel || !Array.isArray(servers) || !servers.every(isText))
    throw new Error("line 1 does not say which model and servers there were");
  for (const [index, entry] of entries.entries()) {
    if (isObject(entry) && typeof entry.at === "number" && isEntry(entry)) continue;
    throw new Error(`line ${index + 2} is no part of a recording`);
  }
  return { head: head as unknown as RecordingHead, entries: entries as RecordingEntry[] };
}
