/** What happens while a question is answered, step by step, for a front end to show. */

import type { CallToolResult, JsonObject, Progress } from "@patchbay/core";

/** The model is asked; `step` counts from 1 within the turn. */
export interface ModelStartEvent {
  type: "model_start";
  /** As it is named in all output: `OpenAI gpt-4.1-mini`, `rule planner (not an AI model)`. */
  model: string;
  step: number;
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

/** The turn's answer, whole; the last event. */
export interface AnswerEvent {
  type: "answer";
  text: string;
  /** False when the rule planner found no tool to run, or the tool that it ran failed. */
  ok: boolean;
}

export type HostEvent =
  | ModelStartEvent
  | TextEvent
  | ToolStartEvent
  | ToolProgressEvent
  | ToolEndEvent
  | ServerUnavailableEvent
  | ToolSetAsideEvent
  | AnswerEvent;
