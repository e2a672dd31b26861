/** An offered tool as a LangChain tool: the model's call becomes `tools/call`, the result a ToolMessage. */

import { ToolMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import type { JSONSchema } from "@langchain/core/utils/json_schema";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { type CallToolResult, type JsonObject, type Progress, ProtocolError } from "@patchbay/core";
import type { OfferedTool } from "./catalog.ts";
import { type ModelImage, type Reader, readResult } from "./result.ts";

export interface ToolLimits {
  /** Milliseconds for one call. */
  toolTimeout: number;
  /** Characters of one result that the model is given. */
  maxResultCharacters: number;
  /** Whom results are for: the rule planner shows them to the user as they are. */
  reader: Reader;
}

/** What a ToolMessage keeps beside its text: not sent as it is, but there for whoever prepares the request. */
export interface ToolArtifact {
  result?: CallToolResult;
  images: ModelImage[];
}

/** What the tools node hands on to a call, through `configurable`. */
export interface CallContext {
  onProgress?: (progress: Progress) => void;
}

type CallConfig = LangGraphRunnableConfig<CallContext> & { toolCall?: { id?: string } };

/** Makes the LangChain tool. What fails becomes a ToolMessage marked as an error; only cancelling throws. */
export function toLangChainTool(offered: OfferedTool, limits: ToolLimits): StructuredToolInterface {
  const call = async (args: unknown, config: CallConfig): Promise<ToolMessage> => {
    const id = config.toolCall?.id ?? "";
    const { signal } = config;
    const onProgress = config.configurable?.onProgress;
    try {
      const result = await offered.client.callTool(offered.tool.name, args as JsonObject, {
        timeout: limits.toolTimeout,
        ...(signal === undefined ? {} : { signal }),
        ...(onProgress === undefined ? {} : { onProgress }),
      });
      return toolMessage(id, offered.name, result, limits);
    } catch (error) {
      signal?.throwIfAborted();
      return failedCall(id, offered.name, reasonOf(error, offered.server));
    }
  };
  return tool(call, {
    name: offered.name,
    description: describe(offered),
    schema: offered.schema as JSONSchema,
    verboseParsingErrors: true,
  }) as StructuredToolInterface;
}

/** The ToolMessage of a call that gave no result. */
export function failedCall(id: string, name: string, reason: string): ToolMessage {
  const artifact: ToolArtifact = { images: [] };
  return new ToolMessage({ tool_call_id: id, name, content: reason, status: "error", artifact });
}

function toolMessage(id: string, name: string, result: CallToolResult, limits: ToolLimits): ToolMessage {
  const { text, images } = readResult(result, limits.maxResultCharacters, limits.reader);
  const failed = result.isError === true;
  return new ToolMessage({
    tool_call_id: id,
    name,
    // Not every provider can mark an error; the text always does.
    content: failed && !/^error\b/i.test(text) ? `Error: ${text}` : text,
    status: failed ? "error" : "success",
    artifact: { result, images } satisfies ToolArtifact,
  });
}

function reasonOf(error: unknown, server: string): string {
  const message = error instanceof Error ? error.message : "unknown failure";
  if (error instanceof ProtocolError) return `Error: server "${server}" refused the call: ${message}`;
  return `Error: no result from server "${server}": ${message}`;
}

/** What the model reads about a tool: providers refuse an empty description, and have no place for a title. */
function describe({ tool }: OfferedTool): string {
  const title = tool.title ?? tool.annotations?.title;
  if (tool.description === undefined || tool.description === "") return title ?? tool.name;
  return title === undefined || tool.description.includes(title)
    ? tool.description
    : `${title}. ${tool.description}`;
}
