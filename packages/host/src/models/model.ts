/** What the loop needs of a model, be it a language model or the rule planner. */

import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { ProviderName } from "../settings.ts";
import type { OfferedTool } from "../tools/catalog.ts";
import type { OwnTool } from "../tools/own-tools.ts";

/** What one reply is asked for beyond the model's own settings. */
export interface ReplySettings {
  maxTokens?: number;
  temperature?: number;
  /** Texts at which the model stops. */
  stop?: readonly string[];
  /** `none`: the tools are there to be read about, and none may be called; `any`: one has to be. */
  toolChoice?: "none" | "any";
}

export interface ModelRequest {
  /** Empty: nothing is said first. */
  system: string;
  /** The conversation so far; the last is the user's question or tools' results. */
  messages: readonly BaseMessage[];
  /** The servers' tools that are offered now. */
  tools: readonly OfferedTool[];
  /** The host's own. */
  own: readonly OwnTool[];
  signal: AbortSignal;
  /** Called with each piece of text as it comes. */
  onText: (text: string) => void;
  settings?: ReplySettings;
}

export interface ModelReply {
  /** Text, tool calls, or both. */
  message: AIMessage;
  /** False when the text is no answer but says why there is none. */
  ok: boolean;
}

export interface Model {
  readonly provider: ProviderName;
  /** The provider's id of the model. */
  readonly name: string;
  /** How it is named in all output: `OpenAI gpt-4.1-mini`, `rule planner (not an AI model)`. */
  readonly label: string;
  /**
   * One step of the loop.
   *
   * @throws HostError `model` or `configuration`: one sentence, without the provider's text
   */
  reply(request: ModelRequest): Promise<ModelReply>;
}
