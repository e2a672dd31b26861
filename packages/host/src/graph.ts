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
import { formatIssues, type JsonObject, type JsonSchema, nearest } from "@patchbay/core";
import type { HostEvent } from "./events.ts";
import type { Model } from "./models/model.ts";
import type { Catalog, OfferedTool } from "./tools/catalog.ts";
import {
  type CallContext,
  failedCall,
  type ToolArtifact,
  type ToolLimits,
  toLangChainTool,
} from "./tools/langchain.ts";

export interface GraphParts extends Omit<ToolLimits, "reader"> {
  model: Model;
  catalog: Catalog;
  system: string;
}

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  /** False when the last message is no answer but says why there is none. */
  ok: Annotation<boolean>(),
});

type Config = LangGraphRunnableConfig;

const MAX_DETAILS = 500;

/** Builds the graph for one set of tools. Its `custom` stream carries the events, in order. */
export function buildGraph({ model, catalog, system, ...bounds }: GraphParts) {
  const limits: ToolLimits = { ...bounds, reader: model.provider === "rules" ? "person" : "model" };
  const offered = new Map<string, { about: OfferedTool; run: StructuredToolInterface }>();
  for (const about of catalog.tools) offered.set(about.name, { about, run: toLangChainTool(about, limits) });
  const bound = Array.from(offered.values(), ({ run }) => run);

  async function askModel({ messages }: typeof State.State, config: Config) {
    const emit = emitter(config);
    const step = stepsInTurn(messages) + 1;
    emit({ type: "model_start", model: model.label, step });
    const reply = await model.reply({
      system,
      messages,
      tools: catalog.tools,
      bound,
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
    const message = await call();
    const { result } = message.artifact as ToolArtifact;
    emit({
      type: "tool_end",
      ...about,
      milliseconds: performance.now() - started,
      isError: message.status === "error",
      text: message.text,
      ...(result === undefined ? {} : { result }),
    });
    return message;

    async function call(): Promise<ToolMessage> {
      if (found === undefined) {
        const meant = nearest(name, offered.keys());
        const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
        return failedCall(id, name, `Error: there is no tool "${name}".${hint}`);
      }
      if (isBroken)
        return failedCall(id, name, "Error: the arguments are not valid JSON; nothing was called.");
      const context: CallContext = {
        onProgress: (progress) => emit({ type: "tool_progress", ...about, ...progress }),
      };
      try {
        return await found.run.invoke(
          { type: "tool_call", id, name, args },
          { ...config, configurable: { ...config.configurable, ...context } },
        );
      } catch (error) {
        config.signal?.throwIfAborted();
        return failedCall(
          id,
          name,
          `Error: ${await wrongArguments(found.about, args, error)}; nothing was called.`,
        );
      }
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

/** Why LangChain did not make the call, in our words where our validator agrees, else in its own. */
async function wrongArguments({ tool }: OfferedTool, args: unknown, error: unknown): Promise<string> {
  const details =
    error instanceof Error ? error.message.replace(/^.*\nDetails: /s, "").slice(0, MAX_DETAILS) : "";
  return `the arguments do not fit the tool's input schema: ${(await issuesOf(tool.inputSchema, args)) ?? details}`;
}

async function issuesOf(schema: JsonSchema, args: unknown): Promise<string | undefined> {
  const { compileSchema } = await import("@patchbay/core/schema");
  try {
    const issues = compileSchema(schema)(args);
    return issues && formatIssues(issues);
  } catch {
    return undefined;
  }
}

function emitter(config: Config): (event: HostEvent) => void {
  return (event) => config.writer?.(event);
}
