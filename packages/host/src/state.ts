/** What a conversation's checkpoint holds: its messages, and where its turn stands. */

import { Annotation, MessagesAnnotation } from "@langchain/langgraph";
import type { JsonObject } from "@patchbay/core";
import type { ToolApproval } from "./consent/approvals.ts";

/** A call of a step, and what was decided of it. */
export interface DecidedCall {
  id: string;
  /** As the model calls the tool. */
  name: string;
  /** Whose it was when that was decided. */
  server: string;
  args: JsonObject;
  /** Why it is not made, where it is not. */
  denied?: string;
}

/** A call that a modern server has asked something about (2026-07-28, basic/patterns/mrtr). */
export interface SuspendedCall {
  call: DecidedCall;
  inputRequests: JsonObject;
  requestState?: string | undefined;
  /** Missing until the questions are answered. */
  answers?: InputAnswers;
  /** How often it has asked. */
  rounds: number;
}

/** The answers to a call's questions, or why there are none. */
export type InputAnswers = { inputResponses: JsonObject } | { failed: string };

/** What a turn waits for; it survives a restart. */
export type Waiting =
  | { kind: "approvals"; requests: ToolApproval[] }
  | { kind: "input"; id: string; server: string; inputRequests: JsonObject };

type Suspended = Record<string, SuspendedCall | null>;

export const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  /** False when the last message is no answer but says why there is none. */
  ok: Annotation<boolean>(),
  /** The tool that first brought content from outside into the conversation. */
  untrusted: Annotation<string | undefined>({
    reducer: (known, now) => known ?? now,
    default: () => undefined,
  }),
  decided: Annotation<DecidedCall[]>(),
  /** By the ids of their calls; one that is over is null. Null for all: a new step. */
  suspended: Annotation<Suspended, Suspended | null>({
    reducer: (known, now) => (now === null ? {} : { ...known, ...now }),
    default: () => ({}),
  }),
});

export type Conversed = typeof State.State;
