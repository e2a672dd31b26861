/** The loop, as a LangGraph graph: the model speaks; the calls that it wants are decided on and made; it speaks again. */

import { setMaxListeners } from "node:events";
import { AIMessage, type ToolMessage } from "@langchain/core/messages";
import {
  type BaseCheckpointSaver,
  Command,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { JsonObject } from "@patchbay/core";
import type { ApprovalAnswer } from "./consent/approvals.ts";
import type { Consent } from "./consent/consent.ts";
import { HostError } from "./errors.ts";
import type { HostEvent } from "./events.ts";
import type { Model } from "./models/model.ts";
import { usageOf } from "./models/usage.ts";
import { makeCall } from "./one-call.ts";
import {
  type Conversed,
  type DecidedCall,
  type InputAnswers,
  State,
  type SuspendedCall,
  type Waiting,
} from "./state.ts";
import type { Toolbox } from "./toolbox.ts";
import type { KeptResults } from "./tools/kept.ts";
import { selectAfter } from "./tools/langchain.ts";
import { BROKEN_ARGUMENTS } from "./tools/run.ts";
import { restoreArguments } from "./tools/schema/restore.ts";
import type { SelectionLimits } from "./tools/selection.ts";
import { trim } from "./trim.ts";

export interface GraphParts {
  model: Model;
  toolbox: Toolbox;
  consent: Consent;
  /** What the model is told first; servers may come and go. */
  system: () => string;
  /** How many tools the model is given as they are. */
  selection: SelectionLimits;
  /** Steps in one turn: asking the model is one, making its calls another. */
  recursionLimit: number;
  maxContextCharacters: number;
}

/** What a turn hands on to the nodes, through `configurable`. */
export interface TurnContext {
  /** Calls that a program which ended may have made: those that are not safe to make twice are not made. */
  uncertain?: Set<string>;
  /** Results as they come: what is done is kept though the turn may fail before its step is over. */
  finished?: Map<string, ToolMessage>;
  /** Where the conversation keeps long results. */
  results?: KeptResults;
}

type Config = LangGraphRunnableConfig<TurnContext>;

const CONCLUDE =
  "\n\nNo more tools can be called in this turn. Answer now with what you know, and say what is missing.";

/** Builds the graph. Its `custom` stream carries the events, in order. */
export function buildGraph(parts: GraphParts, checkpointer?: BaseCheckpointSaver) {
  const { model, toolbox, consent, system, selection, recursionLimit, maxContextCharacters } = parts;
  const maxSteps = Math.max(1, Math.ceil(recursionLimit / 2));

  async function askModel({ messages }: Conversed, config: Config) {
    const emit = emitter(config);
    const signal = config.signal ?? new AbortController().signal;
    const { catalog } = await toolbox.current(signal, emit);
    const step = stepsInTurn(messages) + 1;
    const { tools, own, ...sizes } = selectAfter(messages, catalog, selection);
    if (sizes.total > tools.length) emit({ type: "tools_narrowed", offered: tools.length, step, ...sizes });
    const concludes = step >= maxSteps && step > 1;
    const fitting = trim(messages, maxContextCharacters);
    if (fitting.turns + fitting.results > 0)
      emit({ type: "trimmed", turns: fitting.turns, results: fitting.results });
    if (concludes) emit({ type: "step_limit", limit: recursionLimit });
    emit({ type: "model_start", model: model.label, step });
    const began = performance.now();
    const { message, ok } = await model.reply({
      system: concludes ? system() + CONCLUDE : system(),
      messages: fitting.messages,
      tools,
      own,
      signal,
      onText: (text) => emit({ type: "text", text, step }),
      ...(concludes ? { settings: { toolChoice: "none" as const } } : {}),
    });
    const usage = usageOf(message);
    const milliseconds = performance.now() - began;
    emit({ type: "model_end", model: model.label, step, milliseconds, ...(usage && { usage }) });
    if (concludes && wantsTools(message)) throw tooManySteps(recursionLimit);
    return { messages: [message], ok, decided: [], suspended: null };
  }

  /** Decides on all calls of a step before any is made: nobody has to wait for a call to be asked about another. */
  function decide({ messages, untrusted }: Conversed) {
    const asked = messages.at(-1) as AIMessage;
    const broken = new Set(asked.invalid_tool_calls?.map((call) => call.id));
    const decisions = (asked.tool_calls ?? []).map(({ id = "", name, args }) => {
      const about = toolbox.offer?.byName.get(name)?.about;
      const call: DecidedCall = { id, name, server: about?.server ?? "", args };
      if (broken.has(id)) return { call: { ...call, denied: BROKEN_ARGUMENTS } };
      // One that is not there, or the host's own: there is nothing to ask about.
      if (about?.server === undefined) return { call };
      const { server, tool } = about;
      // What is decided on is what is sent.
      const sent = restoreArguments(about.schema, args) as JsonObject;
      return { call, decision: consent.decide({ id, server, tool, arguments: sent, untrusted }) };
    });
    const requests = decisions.flatMap(({ decision }) =>
      decision !== undefined && "ask" in decision ? [decision.ask] : [],
    );
    const waiting: Waiting = { kind: "approvals", requests };
    const answers: Record<string, ApprovalAnswer> = requests.length === 0 ? {} : interrupt(waiting);
    const decided = decisions.map(({ call, decision }): DecidedCall => {
      if (decision === undefined || "run" in decision) return call;
      if ("denied" in decision) return { ...call, denied: decision.denied };
      const answer = Object.hasOwn(answers, call.id) ? answers[call.id] : "deny";
      return answer === "deny" || answer === "never"
        ? { ...call, denied: "the user does not allow it" }
        : call;
    });
    return { decided };
  }

  async function call(task: CallTask, config: Config) {
    // All calls of a step listen to one signal of LangGraph's: Node would warn of more than ten.
    if (config.signal !== undefined) setMaxListeners(0, config.signal);
    const { suspended, ...decided } = task;
    const done = await makeCall(decided, suspended, { toolbox, emit: emitter(config), config });
    if ("suspended" in done) return { suspended: { [decided.id]: done.suspended } };
    return { messages: [done.message], untrusted: done.untrusted, suspended: { [decided.id]: null } };
  }

  /** Waits for the answers to a call's questions: a step of its own, so that a restart does not make the call again. */
  function question(suspended: SuspendedCall) {
    const { call: about, inputRequests } = suspended;
    const waiting: Waiting = { kind: "input", id: about.id, server: about.server, inputRequests };
    const answers: InputAnswers = interrupt(waiting);
    return { suspended: { [about.id]: { ...suspended, answers } } };
  }

  return new StateGraph(State)
    .addNode("model", askModel)
    .addNode("decide", decide)
    .addNode("call", call, { input: undefined as never })
    .addNode("question", question, { input: undefined as never })
    .addNode("join", () => ({}))
    .addEdge(START, "model")
    .addConditionalEdges("model", ({ messages }) => (wantsTools(messages.at(-1)) ? "decide" : END), [
      "decide",
      END,
    ])
    .addConditionalEdges("decide", ({ decided }) => decided.map((each) => new Send("call", each)), ["call"])
    .addEdge("call", "join")
    .addEdge("question", "join")
    .addConditionalEdges("join", afterCalls, ["model", "call", "question"])
    .compile({ name: "host_agent", ...(checkpointer && { checkpointer }) });
}

type CallTask = DecidedCall & { suspended?: SuspendedCall };

function afterCalls({ suspended }: Conversed): Send[] | "model" {
  const open = Object.values(suspended).filter((each) => each !== null);
  if (open.length === 0) return "model";
  return open.map((each) =>
    each.answers === undefined
      ? new Send("question", each)
      : new Send("call", { ...each.call, suspended: each }),
  );
}

function wantsTools(message: unknown): boolean {
  return AIMessage.isInstance(message) && (message.tool_calls ?? []).length > 0;
}

/** How often the model has spoken since the user last did. */
function stepsInTurn(messages: Conversed["messages"]): number {
  const asked = messages.findLastIndex((message) => message.type === "human");
  return messages.slice(asked + 1).filter((message) => message.type === "ai").length;
}

function tooManySteps(recursionLimit: number): HostError {
  return new HostError(
    "recursion_limit",
    `No answer after ${recursionLimit} steps (recursionLimit): the model kept asking for tools. Ask for less at once, or raise the limit.`,
  );
}

function emitter(config: Config): (event: HostEvent) => void {
  return (event) => config.writer?.(event);
}

/** Goes on with a turn that waits, with an answer for each thing that it waits for. */
export function goOn(answers: Record<string, unknown>): Command {
  return new Command({ resume: answers });
}
