/** A recorded turn: one JSON object a line, from the question to the answer, with all that passed between. */

import { isObject, type JsonObject, type JsonValue } from "@patchbay/core";
import type { ApprovalRules } from "../consent/rules.ts";
import type { HostEvent, Usage } from "../events.ts";
import type { ReplySettings } from "../models/model.ts";
import type { ProviderName } from "../settings.ts";

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
  | { type: "question"; text: string }
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

const TYPES = new Set([
  "question",
  "model_request",
  "model_reply",
  "model_failure",
  "message",
  "event",
  "failure",
  "truncated",
]);

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
  if (!isObject(model) || typeof model.label !== "string" || !Array.isArray(servers))
    throw new Error("line 1 does not say which model and servers there were");
  for (const [index, entry] of entries.entries()) {
    if (isObject(entry) && typeof entry.at === "number" && TYPES.has(entry.type as string)) continue;
    throw new Error(`line ${index + 2} is no part of a recording`);
  }
  return { head: head as unknown as RecordingHead, entries: entries as RecordingEntry[] };
}
