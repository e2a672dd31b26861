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
