/** The loop, as a LangGraph graph: the model speaks; while it asks for tools they run, and it speaks again. */

import { AIMessage, type ToolMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import {
  Annotation,
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { CallToolResult, JsonObject, Tool } from "@patchbay/core";
import type { HostEvent } from "./events.ts";
import type { Model } from "./models/model.ts";
import type { Catalog } from "./tools/catalog.ts";
import {
  type CallContext,
  ownLangChainTools,
  selectAfter,
  type ToolLimits,
  toLangChainTool,
  toToolMessage,
} from "./tools/langchain.ts";
import type { ToolOutcome } from "./tools/outcome.ts";
import { BROKEN_ARGUMENTS, refusedCall, unknownTool } from "./tools/run.ts";
import type { Embed } from "./tools/search.ts";
import type { SelectionLimits } from "./tools/selection.ts";

export interface GraphParts extends Omit<ToolLimits, "reader"> {
  model: Model;
  catalog: Catalog;
  system: string;
  selection: SelectionLimits;
  embed?: Embed;
}

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  /** False when the last message is no answer but says why there is none. */
  ok: Annotation<boolean>(),
});

type Config = LangGraphRunnableConfig;

/** A tool of a server, or of the host. */
interface Callable {
  about: { tool: Tool; server?: string };
  run: StructuredToolInterface;
}

/** Builds the graph for one set of tools. Its `custom` stream carries the events, in order. */
export function buildGraph({ model, catalog, system, selection, embed, ...bounds }: GraphParts) {
  const limits: ToolLimits = { ...bounds, reader: model.provider === "rules" ? "person" : "model" };
  const offered = new Map<string, Callable>(ownLangChainTools(catalog, limits, embed));
  for (const about of catalog.tools) offered.set(about.name, { about, run: toLangChainTool(about, limits) });

  async function askModel({ messages }: typeof State.State, config: Config) {
    const emit = emitter(config);
    const step = stepsInTurn(messages) + 1;
    const { tools, own, ...sizes } = selectAfter(messages, catalog, selection);
    if (sizes.total > tools.length) emit({ type: "tools_narrowed", offered: tools.length, step, ...sizes });
    emit({ type: "model_start", model: model.label, step });
    const reply = await model.reply({
      system,
      messages,
      tools,
      own,
      signal: config.signal ?? new AbortController().signal,
      onText: (text) => emit({ type: "text", text, step }),
    });
    return { messages: [reply.message], ok: reply.ok };
  }

  async function runTools({ messages }: typeof State.State, config: Config) {
    const asked = messages.at(-1) as AIMessage;
    const broken = new Set(asked.invalid_tool_calls?.map((call) => call.id));
    const results = await Promise.all(
      (asked.tool_calls ?? []).map((call) => {
        const id = call.id ?? "";
        return runTool({ id, name: call.name, args: call.args }, broken.has(id), config);
      }),
    );
    return { messages: results };
  }

  async function runTool(
    { id, name, args }: { id: string; name: string; args: JsonObject },
    isBroken: boolean,
    config: Config,
  ): Promise<ToolMessage> {
    const emit = emitter(config);
    const found = offered.get(name);
    const about = { id, server: found?.about.server ?? "", tool: found?.about.tool.name ?? name };
    emit({ type: "tool_start", ...about, arguments: args });
    const started = performance.now();
    let text: string | undefined;
    let result: CallToolResult | undefined;
    const message = await call();
    emit({
      type: "tool_end",
      ...about,
      milliseconds: performance.now() - started,
      isError: message.status === "error",
      text: text ?? message.text,
      ...(result === undefined ? {} : { result }),
    });
    return message;

    async function call(): Promise<ToolMessage> {
      if (found === undefined) return toToolMessage(unknownTool({ id, name }, offered.keys()));
      if (isBroken) return toToolMessage(refusedCall({ id, name }, BROKEN_ARGUMENTS));
      const context: CallContext = {
        onProgress: (progress) => emit({ type: "tool_progress", ...about, ...progress }),
        onOutcome: (outcome: ToolOutcome) => {
          text = outcome.plain;
          result = outcome.result;
        },
      };
      return await found.run.invoke(
        { type: "tool_call", id, name, args },
        { ...config, configurable: { ...config.configurable, ...context } },
      );
    }
  }

  return new StateGraph(State)
    .addNode("model", askModel)
    .addNode("tools", runTools)
    .addEdge(START, "model")
    .addConditionalEdges("model", ({ messages }) => (wantsTools(messages.at(-1)) ? "tools" : END), [
      "tools",
      END,
    ])
    .addEdge("tools", "model")
    .compile({ name: "host_agent" });
}

function wantsTools(message: unknown): boolean {
  return AIMessage.isInstance(message) && (message.tool_calls ?? []).length > 0;
}

/** How often the model has spoken since the user last did. */
function stepsInTurn(messages: (typeof State.State)["messages"]): number {
  const asked = messages.findLastIndex((message) => message.type === "human");
  return messages.slice(asked + 1).filter((message) => message.type === "ai").length;
}

function emitter(config: Config): (event: HostEvent) => void {
  return (event) => config.writer?.(event);
}
