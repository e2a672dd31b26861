/** One turn: a question goes through the graph, its events go out, and a history comes back that fits together. */

import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { GraphRecursionError } from "@langchain/langgraph";
import { HostError } from "./errors.ts";
import type { HostEvent } from "./events.ts";
import type { buildGraph } from "./graph.ts";
import type { KeptResults } from "./tools/kept.ts";

export interface TurnOptions {
  graph: ReturnType<typeof buildGraph>;
  history: readonly BaseMessage[];
  /** Where the conversation keeps long results. */
  results: KeptResults;
  question: string;
  recursionLimit: number;
  signal: AbortSignal;
  onEvent: (event: HostEvent) => void;
}

export interface Turn {
  /** What the conversation goes on from; after a failure too. */
  history: BaseMessage[];
  outcome: { answer: string; ok: boolean } | { error: unknown };
}

/** Runs the turn. It never rejects: a failure is an outcome, with the history that it leaves. */
export async function runTurn({
  graph,
  history,
  results,
  question,
  recursionLimit,
  signal,
  onEvent,
}: TurnOptions): Promise<Turn> {
  let messages: BaseMessage[] = [...history, new HumanMessage(question)];
  let ok = true;
  const began = performance.now();
  try {
    const steps = await graph.stream(
      { messages },
      { streamMode: ["custom", "values"], recursionLimit, signal, configurable: { results } },
    );
    for await (const [mode, chunk] of steps) {
      if (mode === "custom") onEvent(chunk as HostEvent);
      else ({ messages, ok = true } = chunk as { messages: BaseMessage[]; ok?: boolean });
    }
    const answer = messages.at(-1)?.text ?? "";
    onEvent({ type: "answer", text: answer, ok, milliseconds: performance.now() - began });
    return { history: messages, outcome: { answer, ok } };
  } catch (thrown) {
    const error = explain(thrown, signal, recursionLimit);
    return { history: closed(history.length, messages, error), outcome: { error } };
  }
}

function explain(thrown: unknown, signal: AbortSignal, recursionLimit: number): unknown {
  if (signal.aborted)
    return signal.reason instanceof HostError ? signal.reason : new HostError("cancelled", "Cancelled.");
  if (thrown instanceof GraphRecursionError) {
    return new HostError(
      "recursion_limit",
      `No answer after ${recursionLimit} steps (recursionLimit): the model kept asking for tools. Ask for less at once, or raise the limit.`,
    );
  }
  return thrown;
}

/**
 * The history after a failed turn. Where no tool was asked for, it is as before. Else it keeps what was done,
 * for a tool may have acted: each call gets a result, and the turn an end.
 */
function closed(before: number, messages: BaseMessage[], error: unknown): BaseMessage[] {
  if (!messages.slice(before).some((message) => AIMessage.isInstance(message)))
    return messages.slice(0, before);
  const why = error instanceof HostError ? error.message : "an error";
  const last = messages.at(-1);
  const pending = AIMessage.isInstance(last) ? (last.tool_calls ?? []) : [];
  const results = pending.map(
    ({ id = "", name }) =>
      new ToolMessage({
        tool_call_id: id,
        name,
        status: "error",
        content: "No result came: the turn ended first. The call may have had its effect.",
      }),
  );
  return [...messages, ...results, new AIMessage(`(This turn ended without an answer: ${why})`)];
}
