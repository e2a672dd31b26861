/** An offered tool as a LangChain tool: the model's call becomes `tools/call`, the outcome a ToolMessage. */

import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Continuation } from "@patchbay/client";
import type { JsonObject, Progress } from "@patchbay/core";
import { prepareArguments } from "./calls.ts";
import type { Catalog, OfferedTool } from "./catalog.ts";
import { descriptionOf } from "./definitions.ts";
import { type KeptResults, keepResults } from "./kept.ts";
import type { ToolOutcome } from "./outcome.ts";
import { type OwnTool, readMoreTool, runOwnTool, searchTool } from "./own-tools.ts";
import type { Reader } from "./result.ts";
import { refusedCall, runTool } from "./run.ts";
import { type Embed, searchOver } from "./search.ts";
import { type Selection, type SelectionLimits, selectTools } from "./selection.ts";

export interface ToolLimits {
  /** Milliseconds for one call. */
  toolTimeout: number;
  /** Characters of one result that the model is given. */
  maxResultCharacters: number;
  /** Whom results are for: the rule planner shows them to the user as they are. */
  reader: Reader;
}

/** What a ToolMessage keeps beside its text: not sent as it is, but there for whoever prepares the request. */
export type ToolArtifact = Pick<ToolOutcome, "images" | "untrusted" | "handle" | "found">;

/** What the tools node hands on to a call, through `configurable`. */
export interface CallContext {
  onProgress?: (progress: Progress) => void;
  /** See RunOptions. */
  suspend?: boolean;
  continuation?: Continuation;
  /** Told what came of the call: the server's own result is not kept in the history, for it may be large. */
  onOutcome?: (outcome: ToolOutcome) => void;
  /** Where the conversation keeps long results. Default: one place for all that share the tool. */
  results?: KeptResults;
}

type CallConfig = LangGraphRunnableConfig<CallContext> & { toolCall?: { id?: string } };

type Call = (id: string, args: JsonObject, results: KeptResults, config: CallConfig) => Promise<ToolOutcome>;

/** Makes the LangChain tool. What fails becomes a ToolMessage marked as an error; only cancelling and being suspended throw. */
export function toLangChainTool(offered: OfferedTool, limits: ToolLimits): StructuredToolInterface {
  // Who reads what a server describes leaves it to the server to check: our validator takes time to load.
  const checks = limits.reader === "model";
  return traced(offered, checks, async (id, args, results, { signal, configurable }) => {
    const { onProgress, suspend, continuation } = configurable ?? {};
    return await runTool(id, offered, args, {
      ...limits,
      results,
      ...(signal === undefined ? {} : { signal }),
      ...(onProgress === undefined ? {} : { onProgress }),
      ...(suspend === undefined ? {} : { suspend }),
      ...(continuation === undefined ? {} : { continuation }),
    });
  });
}

/** The host's own tools over a catalog, by their names. They read what the host has, and need nobody's consent. */
export function ownLangChainTools(
  { tools }: Pick<Catalog, "tools">,
  limits: ToolLimits,
  embed?: Embed,
): Map<string, { about: OwnTool; run: StructuredToolInterface }> {
  const search = searchOver(tools, embed);
  const made = [searchTool(tools), readMoreTool].map((about) => {
    const run = traced(about, true, (id, args, results) =>
      runOwnTool({ id, name: about.name }, args, { ...limits, results, search }),
    );
    return [about.name, { about, run }] as const;
  });
  return new Map(made);
}

function traced(
  offered: Pick<OfferedTool, "name" | "tool" | "schema">,
  checks: boolean,
  call: Call,
): StructuredToolInterface {
  const { name } = offered;
  const shared = keepResults();
  const work = async (args: unknown, config: CallConfig): Promise<ToolMessage> => {
    const id = config.toolCall?.id ?? "";
    const { results = shared, onOutcome } = config.configurable ?? {};
    const given = args as JsonObject;
    const prepared = checks ? await prepareArguments(offered, given) : { args: given };
    const outcome =
      "problem" in prepared
        ? refusedCall({ id, name }, prepared.problem)
        : await call(id, prepared.args, results, config);
    onOutcome?.(outcome);
    return toToolMessage(outcome);
  };
  // The arguments are checked above, by the schema that the server gave; the model reads that of `toolDefinitions`.
  const schema = { type: "object", properties: {} } as const;
  return tool(work, {
    name,
    description: descriptionOf(offered.tool),
    schema,
  }) as unknown as StructuredToolInterface;
}

/** An outcome as the history keeps it. */
export function toToolMessage(outcome: ToolOutcome): ToolMessage {
  const { id, name, text, images, isError, untrusted, handle, found } = outcome;
  const artifact: ToolArtifact = {
    images,
    untrusted,
    ...(handle === undefined ? {} : { handle }),
    ...(found === undefined ? {} : { found }),
  };
  const status = isError ? "error" : "success";
  return new ToolMessage({ tool_call_id: id, name, content: text, status, artifact });
}

/** The tools to offer next, by what a history says was found, and is there to be read on. */
export function selectAfter(
  messages: readonly BaseMessage[],
  catalog: Catalog,
  limits: SelectionLimits = {},
): Selection {
  const artifacts = messages.flatMap((message) =>
    ToolMessage.isInstance(message) && message.artifact !== undefined
      ? [message.artifact as ToolArtifact]
      : [],
  );
  const found = artifacts.flatMap(({ found = [] }) => found);
  return selectTools(catalog, { found, keeps: artifacts.some(({ handle }) => handle !== undefined) }, limits);
}
