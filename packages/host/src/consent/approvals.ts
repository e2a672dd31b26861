/** What a person is asked before something happens, and what they may answer. */

import type { CreateMessageParams, JsonObject, ToolAnnotations } from "@patchbay/core";
import type { ServerIdentity } from "./identity.ts";

/**
 * - `once`: this time
 * - `session`: until this program ends
 * - `always`: from now on, in other sessions too
 * - `deny`: not this time
 * - `never`: from now on not, and nobody is asked
 */
export type ApprovalAnswer = "once" | "session" | "always" | "deny" | "never";

interface Asked {
  /** As the configuration names it. */
  server: string;
  /** Why this is asked, in one sentence for people. */
  why: string;
  /** The answers that make sense; any other counts as `deny`. */
  choices: readonly ApprovalAnswer[];
}

/** The model wants a tool called. Names, description and arguments are somebody else's text: show them escaped. */
export interface ToolApproval extends Asked {
  kind: "tool";
  /** The model's id of the call. */
  id: string;
  tool: string;
  title?: string;
  description?: string;
  /** Whole: what is sent if the answer is yes. */
  arguments: JsonObject;
  annotations: ToolAnnotations;
  /** Content from outside is in the conversation: who wrote it may be behind this call. */
  untrusted: boolean;
}

/** A server is used for the first time, or is not what it was: another command, argument, variable or URL. */
export interface ServerApproval extends Asked {
  kind: "server";
  identity: ServerIdentity;
  /** What it was when it was approved; missing for a new one. */
  before?: ServerIdentity;
  /** Lines that begin with `+`, `-` or a space. Empty for a new one. */
  diff: string;
}

/** A tool that is not what was approved. */
export interface ToolChange {
  tool: string;
  change: "new" | "changed";
  /** Lines that begin with `+`, `-` or a space. */
  diff: string;
}

/** An approved server's tools have changed. Until that is approved the model is not shown those that did. */
export interface ToolsApproval extends Asked {
  kind: "tools";
  changes: readonly ToolChange[];
}

/** A server wants the host's model to write something. */
export interface SamplingApproval extends Asked {
  kind: "sampling";
  /** The model that would answer. */
  model: string;
  params: CreateMessageParams;
}

export type ApprovalRequest = ToolApproval | ServerApproval | ToolsApproval | SamplingApproval;

/** Asks a person. One request at a time; an abort means that nobody waits for the answer any more. */
export type OnApproval = (
  request: ApprovalRequest,
  context: { signal: AbortSignal },
) => ApprovalAnswer | Promise<ApprovalAnswer>;
