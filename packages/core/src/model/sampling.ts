/** Sampling: a server asks the client's model (client/sampling). */

import type { JsonObject } from "../json.ts";
import type { Meta, Role } from "./base.ts";
import type { AudioContent, ContentBlock, ImageContent, TextContent } from "./content.ts";
import type { Tool } from "./tools.ts";

/** The model wants a tool called. */
export interface ToolUseContent {
  type: "tool_use";
  id: string;
  name: string;
  input: Record<string, unknown>;
  _meta?: Meta;
}

/** What the tool gave. */
export interface ToolResultContent {
  type: "tool_result";
  toolUseId: string;
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: Meta;
}

export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

export interface SamplingMessage {
  role: Role;
  /** Several since 2025-11-25. */
  content: SamplingContent | SamplingContent[];
  _meta?: Meta;
}

/** Priorities are from 0 to 1. */
export interface ModelPreferences {
  hints?: { name?: string }[];
  costPriority?: number;
  speedPriority?: number;
  intelligencePriority?: number;
}

export interface CreateMessageParams {
  messages: SamplingMessage[];
  maxTokens: number;
  systemPrompt?: string;
  modelPreferences?: ModelPreferences;
  includeContext?: "none" | "thisServer" | "allServers";
  temperature?: number;
  stopSequences?: string[];
  metadata?: JsonObject;
  /** Since 2025-11-25, for clients that declare `sampling.tools`. */
  tools?: Tool[];
  toolChoice?: { mode?: "auto" | "required" | "none" };
  _meta?: Meta;
}

export interface CreateMessageResult extends SamplingMessage {
  model: string;
  /** `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or the provider's own word. */
  stopReason?: string;
}

/**
 * What is wrong with the order of a conversation that uses tools: each message with tool uses is followed by one
 * that holds their results, and nothing else (client/sampling § Tool Use and Result Balance).
 */
export function samplingFault(messages: readonly SamplingMessage[]): string | undefined {
  let awaited = new Set<string>();
  for (const [index, { role, content }] of messages.entries()) {
    const blocks = Array.isArray(content) ? content : [content];
    const results = blocks.filter((block) => block.type === "tool_result");
    const at = `messages[${index}]`;
    if (results.length > 0 && results.length < blocks.length)
      return `${at} mixes tool results with other content`;
    if (results.length > 0 && role !== "user") return `${at} has tool results, but is not the user's`;
    const answered = new Set(results.map(({ toolUseId }) => toolUseId));
    for (const id of answered)
      if (!awaited.has(id)) return `${at} has a result for "${id}", which was not asked for`;
    for (const id of awaited) if (!answered.has(id)) return `${at} lacks the result of the tool use "${id}"`;
    awaited = new Set(blocks.filter((block) => block.type === "tool_use").map(({ id }) => id));
    if (awaited.size > 0 && role !== "assistant") return `${at} uses tools, but is not the assistant's`;
  }
  // The last message may be the one whose tools are still to be called.
  return undefined;
}
