/** A conversation that is too long for its model is sent in part: by rule, and never a call without its results. */

import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { ToolArtifact } from "./tools/langchain.ts";

export interface Trimmed {
  messages: BaseMessage[];
  /** Whole turns that were left out. */
  turns: number;
  /** Results that became a note. */
  results: number;
}

/** Results of the latest steps that stay as they are. */
const KEPT_STEPS = 1;

/**
 * Makes messages fit. First whole turns are left out, the oldest first, but never the one that is being answered. Then
 * results of that one become notes, the oldest first, but not those that the model has not seen yet. The question stays.
 *
 * @param maxCharacters of all content, calls and results; images count by their base64
 */
export function trim(messages: readonly BaseMessage[], maxCharacters: number): Trimmed {
  const sizes = messages.map(sizeOf);
  let total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= maxCharacters) return { messages: [...messages], turns: 0, results: 0 };
  const current = Math.max(
    0,
    messages.findLastIndex((message) => message.type === "human"),
  );
  let start = 0;
  let turns = 0;
  while (start < current && total > maxCharacters) {
    do total -= sizes[start++] as number;
    while (start < current && messages[start]?.type !== "human");
    turns++;
  }
  const left = messages.slice(start);
  let results = 0;
  const lastSteps = stepStart(left, KEPT_STEPS);
  for (const [index, message] of left.entries()) {
    if (total <= maxCharacters || index >= lastSteps) break;
    if (!ToolMessage.isInstance(message)) continue;
    const note = noteFor(message);
    const saved = sizeOf(message) - sizeOf(note);
    if (saved <= 0) continue;
    left[index] = note;
    total -= saved;
    results++;
  }
  return { messages: left, turns, results };
}

/** Where the last so many steps begin: a step is what the model says, and the results of its calls. */
function stepStart(messages: readonly BaseMessage[], steps: number): number {
  let left = steps;
  for (let index = messages.length - 1; index >= 0; index--) {
    if (messages[index]?.type === "ai" && --left === 0) return index;
  }
  return 0;
}

function noteFor(message: ToolMessage): ToolMessage {
  return new ToolMessage({
    tool_call_id: message.tool_call_id,
    ...(message.name === undefined ? {} : { name: message.name }),
    ...(message.status === undefined ? {} : { status: message.status }),
    content: `[left out to save space: ${message.text.length} characters; call the tool again if you need them]`,
    artifact: { ...(message.artifact as ToolArtifact), images: [] } satisfies ToolArtifact,
  });
}

function sizeOf(message: BaseMessage): number {
  const content =
    typeof message.content === "string" ? message.content.length : JSON.stringify(message.content).length;
  const { tool_calls: calls = [] } = message as { tool_calls?: unknown[] };
  const images = ToolMessage.isInstance(message)
    ? ((message.artifact as ToolArtifact | undefined)?.images ?? [])
    : [];
  return (
    content +
    (calls.length === 0 ? 0 : JSON.stringify(calls).length) +
    images.reduce((sum, { data }) => sum + data.length, 0)
  );
}
