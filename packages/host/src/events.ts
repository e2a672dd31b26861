/** What happens while a question is answered, step by step, for a front end to show. */

import type { CallToolResult, JsonObject, Progress } from "@patchbay/core";
import type { ApprovalAnswer, ApprovalRequest } from "./consent/approvals.ts";

/** The model is asked; `step` counts from 1 within the turn. */
export interface ModelStartEvent {
  type: "model_start";
  /** As it is named in all output: `OpenAI gpt-4.1-mini`, `rule planner (not an AI model)`. */
  model: string;
  step: number;
}

/** Tokens, as the provider counts them. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  /** Of the input, those that the provider had at hand. */
  cachedTokens?: number;
}

/** The model has spoken. */
export interface ModelEndEvent {
  type: "model_end";
  model: string;
  step: number;
  milliseconds: number;
  /** Missing where the provider does not say. */
  usage?: Usage;
}

/** A piece of what the model says. It may still ask for tools after it: the answer comes with `answer`. */
export interface TextEvent {
  type: "text";
  text: string;
  step: number;
}

/** A tool is called. `tool_end` follows, unless the turn is cancelled first. */
export interface ToolStartEvent {
  type: "tool_start";
  /** The model's id of this call; the other events of the call carry it too. */
  id: string;
  server: string;
  /** The tool's own MCP name. */
  tool: string;
  arguments: JsonObject;
}

export interface ToolProgressEvent extends Progress {
  type: "tool_progress";
  id: string;
  server: string;
  tool: string;
}

export interface ToolEndEvent {
  type: "tool_end";
  id: string;
  server: string;
  tool: string;
  milliseconds: number;
  /** The tool failed, or never ran. */
  isError: boolean;
  /** What the model is given to read. */
  text: string;
  /** The server's own result; missing when there was none: a lost connection, a timeout, an unknown tool. */
  result?: CallToolResult;
}

/** A server whose tools could not be listed: this turn goes on without it. */
export interface ServerUnavailableEvent {
  type: "server_unavailable";
  server: string;
  reason: string;
}

/** A tool that this model cannot be offered, and why; the others are. */
export interface ToolSetAsideEvent {
  type: "tool_set_aside";
  server: string;
  tool: string;
  reason: string;
}

/** What was decided where somebody had to be asked. */
export interface ApprovalEvent {
  type: "approval";
  request: ApprovalRequest;
  answer: ApprovalAnswer;
  /** `nobody`: there was nobody to ask, so it is denied. */
  by: "person" | "nobody";
}

/** A server asks something, and waits for the answer. */
export interface QuestionEvent {
  type: "question";
  server: string;
  kind: "elicitation" | "sampling" | "roots";
}

/** The model of the host has written something for a server. */
export interface SamplingEvent {
  type: "sampling";
  server: string;
  model: string;
  milliseconds: number;
  usage?: Usage;
}

/** The tools are others than before, in the midst of a turn: the model is offered these from now on. */
export interface ToolsChangedEvent {
  type: "tools_changed";
  added: { server: string; tool: string }[];
  removed: { server: string; tool: string }[];
}

/** What a server kept for us is lost, with its process or its session; it is open again. */
export interface ServerRestartedEvent {
  type: "server_restarted";
  server: string;
  reason: string;
}

/** The conversation was too long for `maxContextCharacters`: the model is not sent all of it. */
export interface TrimmedEvent {
  type: "trimmed";
  /** Whole turns that were left out, the oldest first. */
  turns: number;
  /** Results that were shortened to a note. */
  results: number;
}

/** The turn has used up its steps: the model is asked to conclude without more tools. */
export interface StepLimitEvent {
  type: "step_limit";
  /** `recursionLimit`. */
  limit: number;
}

/** There are too many tools to give the model all of them: it has a search for them, and what it found. */
export interface ToolsNarrowedEvent {
  type: "tools_narrowed";
  step: number;
  /** Servers' tools that this request offers, and how many there are. */
  offered: number;
  total: number;
  /** About how many tokens the offered tools cost, and all would. */
  tokens: number;
  totalTokens: number;
}

/** The turn's answer, whole; the last event. */
export interface AnswerEvent {
  type: "answer";
  text: string;
  /** False when the rule planner found no tool to run, or the tool that it ran failed. */
  ok: boolean;
  /** Of the whole turn. */
  milliseconds: number;
  /** Of all replies of the model in this turn, but not those for servers; missing where the provider does not say. */
  usage?: Usage;
}

export type HostEvent =
  | ModelStartEvent
  | ModelEndEvent
  | TextEvent
  | ToolStartEvent
  | ToolProgressEvent
  | ToolEndEvent
  | ServerUnavailableEvent
  | ToolSetAsideEvent
  | ApprovalEvent
  | QuestionEvent
  | SamplingEvent
  | ToolsChangedEvent
  | ServerRestartedEvent
  | TrimmedEvent
  | StepLimitEvent
  | ToolsNarrowedEvent
  | AnswerEvent;
