/** One turn: a question goes through the graph, its events go out, and what it waits for is answered. */

import { AIMessage, type BaseMessage, RemoveMessage, ToolMessage } from "@langchain/core/messages";
import { type Command, REMOVE_ALL_MESSAGES } from "@langchain/langgraph";
import { HostError } from "./errors.ts";
import type { HostEvent, Usage } from "./events.ts";
import { type buildGraph, goOn, type TurnContext } from "./graph.ts";
import { addUsage } from "./models/usage.ts";
import type { AskedTurn } from "./question.ts";
import type { Conversed, Waiting } from "./state.ts";
import type { KeptResults } from "./tools/kept.ts";
import type { ToolArtifact } from "./tools/langchain.ts";

export type Graph = ReturnType<typeof buildGraph>;

export interface TurnOptions {
  graph: Graph;
  /** Whose checkpoint it is. */
  thread: string;
  /** Where the conversation keeps long results. */
  results: KeptResults;
  signal: AbortSignal;
  onEvent: (event: HostEvent) => void;
  /** Answers what the turn waits for. */
  onWaiting: (waiting: Waiting, signal: AbortSignal) => Promise<unknown>;
  /** Steps of the graph, of any kind: a bound that nothing sensible reaches. */
  maxSupersteps: number;
}

export interface Outcome {
  answer: string;
  ok: boolean;
  milliseconds: number;
  usage?: Usage;
}

interface Interrupted {
  id?: string;
  value?: Waiting;
}

/**
 * Asks a question.
 *
 * @throws HostError, or what the model's provider threw; the conversation can go on after it
 */
export async function ask(options: TurnOptions, question: AskedTurn): Promise<Outcome> {
  const before = await statusOf(options);
  options.results.reserve(handlesIn(before.messages));
  if (before.waits)
    await close(options, before.messages, new HostError("cancelled", "it was not gone on with"));
  return run(options, question);
}

/**
 * Goes on with a turn that a program which ended has left, if one is there.
 *
 * @throws as `ask` does
 */
export async function resume(options: TurnOptions): Promise<Outcome | undefined> {
  const { waits, interrupted, messages, next } = await statusOf(options);
  if (!waits) return undefined;
  options.results.reserve(handlesIn(messages));
  if (interrupted.length > 0) return run(options, interrupted);
  const done = new Set(
    messages.filter((each) => ToolMessage.isInstance(each)).map((each) => each.tool_call_id),
  );
  const calls = messages.flatMap((each) => (AIMessage.isInstance(each) ? (each.tool_calls ?? []) : []));
  const open = next.includes("call") ? calls.map(({ id = "" }) => id).filter((id) => !done.has(id)) : [];
  return run(options, null, new Set(open));
}

/** Handles of long results, which may be of an earlier program. */
function handlesIn(messages: readonly BaseMessage[]): string[] {
  return messages.flatMap((message) => {
    const { handle } = (ToolMessage.isInstance(message) && (message.artifact as ToolArtifact)) || {};
    return handle === undefined ? [] : [handle];
  });
}

/** Whether a turn of the conversation is not over. */
export async function isWaiting(options: Pick<TurnOptions, "graph" | "thread">): Promise<boolean> {
  return (await statusOf(options)).waits;
}

type Input = AskedTurn | Interrupted[] | null;

async function run(options: TurnOptions, first: Input, uncertain?: Set<string>): Promise<Outcome> {
  const { graph, thread, results, signal, onEvent, onWaiting, maxSupersteps } = options;
  const began = performance.now();
  const finished = new Map<string, ToolMessage>();
  const context: TurnContext = { finished, results, ...(uncertain && { uncertain }) };
  let usage: Usage | undefined;
  let state: Partial<Conversed> = {};
  const take = (event: HostEvent) => {
    if (event.type === "model_end") usage = addUsage(usage, event.usage);
    onEvent(event);
  };
  try {
    let input = Array.isArray(first) ? await answered(first) : first;
    for (;;) {
      const interrupted: Interrupted[] = [];
      const steps = await graph.stream(input as never, {
        configurable: { thread_id: thread, ...context },
        streamMode: ["custom", "values"],
        recursionLimit: maxSupersteps,
        durability: "sync",
        signal,
      });
      for await (const [mode, chunk] of steps as AsyncIterable<[string, unknown]>) {
        if (mode === "custom") take(chunk as HostEvent);
        else if (isInterrupt(chunk)) interrupted.push(...chunk.__interrupt__);
        else state = chunk as Conversed;
      }
      if (interrupted.length === 0) break;
      input = await answered(interrupted);
    }
    const { ok = true, messages = [] } = state;
    const outcome = {
      answer: messages.at(-1)?.text ?? "",
      ok,
      milliseconds: performance.now() - began,
      ...(usage && { usage }),
    };
    const { answer: text, ...figures } = outcome;
    onEvent({ type: "answer", text, ...figures });
    return outcome;
  } catch (thrown) {
    const error = explain(thrown, signal);
    const messages = state.messages ?? (await statusOf(options)).messages;
    await close(options, messages, error, finished);
    throw error;
  }

  async function answered(interrupted: readonly Interrupted[]): Promise<Command> {
    const answers = await Promise.all(
      interrupted.map(async ({ id = "", value }) => [id, await onWaiting(value as Waiting, signal)] as const),
    );
    return goOn(Object.fromEntries(answers));
  }
}

function isInterrupt(chunk: unknown): chunk is { __interrupt__: Interrupted[] } {
  return typeof chunk === "object" && chunk !== null && "__interrupt__" in chunk;
}

async function statusOf({ graph, thread }: Pick<TurnOptions, "graph" | "thread">) {
  const { values, next, tasks } = await graph.getState({ configurable: { thread_id: thread } });
  const interrupted: Interrupted[] = tasks.flatMap((task) => task.interrupts as Interrupted[]);
  const messages = ((values as Partial<Conversed>).messages ?? []) as BaseMessage[];
  return { messages, next, interrupted, waits: next.length > 0 };
}

function explain(thrown: unknown, signal: AbortSignal): unknown {
  if (!signal.aborted) return thrown;
  return signal.reason instanceof HostError ? signal.reason : new HostError("cancelled", "Cancelled.");
}

/**
 * Ends a turn that failed. Where no tool was asked for, the conversation is as before. Else it keeps what was done, for
 * a tool may have acted: each call gets a result, and the turn an end.
 */
async function close(
  { graph, thread }: Pick<TurnOptions, "graph" | "thread">,
  messages: readonly BaseMessage[],
  error: unknown,
  finished: ReadonlyMap<string, ToolMessage> = new Map(),
): Promise<void> {
  const asked = messages.findLastIndex((message) => message.type === "human");
  const spoke = messages.slice(asked + 1).some((message) => AIMessage.isInstance(message));
  const kept = spoke ? ended(messages, error, finished) : messages.slice(0, Math.max(0, asked));
  await graph.updateState(
    { configurable: { thread_id: thread } },
    { messages: [new RemoveMessage({ id: REMOVE_ALL_MESSAGES }), ...kept], decided: [], suspended: null },
    "model",
  );
}

function ended(
  messages: readonly BaseMessage[],
  error: unknown,
  finished: ReadonlyMap<string, ToolMessage>,
): BaseMessage[] {
  const why = error instanceof HostError ? error.message : "an error";
  const done = new Set(
    messages.filter((each) => ToolMessage.isInstance(each)).map((each) => each.tool_call_id),
  );
  const last = messages.findLast((message) => AIMessage.isInstance(message));
  const open = ((last as AIMessage | undefined)?.tool_calls ?? []).filter(({ id = "" }) => !done.has(id));
  const results = open.map(
    ({ id = "", name }) =>
      finished.get(id) ??
      new ToolMessage({
        tool_call_id: id,
        name,
        status: "error",
        content: "No result came: the turn ended first. The call may have had its effect.",
      }),
  );
  return [...messages, ...results, new AIMessage(`(This turn ended without an answer: ${why})`)];
}
