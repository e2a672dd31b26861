/** A server's request for the model: its messages as the model takes them, and what the model wrote as MCP has it. */

import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import {
  type CreateMessageParams,
  type CreateMessageResult,
  ErrorCode,
  ProtocolError,
  type SamplingContent,
  type SamplingMessage,
  type Tool,
} from "@patchbay/core";
import type { Usage } from "../events.ts";
import { formatOf } from "../models/format.ts";
import type { Model } from "../models/model.ts";
import { usageOf } from "../models/usage.ts";
import { FORMATS } from "../tools/formats.ts";
import type { ToolArtifact } from "../tools/langchain.ts";
import { providerNames } from "../tools/names.ts";
import type { OwnTool } from "../tools/own-tools.ts";
import { readResult } from "../tools/result.ts";
import { lowerSchema } from "../tools/schema/lower.ts";

const MAX_RESULT = 50_000;

/** The model that may answer: the first that a hint names, in the order of the hints, else the first of all. */
export function chosenModel(models: readonly Model[], { modelPreferences }: CreateMessageParams): Model {
  const able = models.filter(({ provider }) => provider !== "rules");
  for (const { name = "" } of modelPreferences?.hints ?? []) {
    const meant = able.find((model) => name !== "" && model.name.toLowerCase().includes(name.toLowerCase()));
    if (meant !== undefined) return meant;
  }
  const first = able[0];
  if (first === undefined)
    throw new ProtocolError(ErrorCode.InternalError, "This host has no model that may answer");
  return first;
}

/** Has the model answer. Tools are the server's own: they are named to the model, and their calls given back. */
export async function sample(
  model: Model,
  params: CreateMessageParams,
  server: string,
  maxTokens: number,
  signal: AbortSignal,
): Promise<{ result: CreateMessageResult; usage?: Usage }> {
  const { toolChoice, systemPrompt, stopSequences, temperature } = params;
  const tools = toolChoice?.mode === "none" ? [] : await named(params.tools ?? [], server, model);
  const { message } = await model.reply({
    system: systemPrompt ?? "",
    messages: messagesOf(params.messages, new Map(tools.map(({ name, tool }) => [tool.name, name]))),
    tools: [],
    own: tools,
    signal,
    onText: () => {},
    settings: {
      maxTokens: Math.min(maxTokens, params.maxTokens),
      ...(temperature === undefined ? {} : { temperature }),
      ...(stopSequences === undefined ? {} : { stop: stopSequences }),
      ...(toolChoice?.mode === "required" && tools.length > 0 ? { toolChoice: "any" as const } : {}),
    },
  });
  const usage = usageOf(message);
  const originals = new Map(tools.map(({ name, tool }) => [name, tool.name]));
  return { result: resultOf(message, model, originals), ...(usage && { usage }) };
}

/** The server's tools, each with a name and a schema that the model's provider takes. */
async function named(tools: readonly Tool[], server: string, { provider }: Model): Promise<OwnTool[]> {
  const format = formatOf(provider);
  const names = providerNames(
    tools.map((tool) => ({ server, tool: tool.name })),
    format === "none" ? {} : { rules: FORMATS[format].name },
  );
  return Promise.all(
    tools.map(async (tool, index) => {
      const lowered = await lowerSchema(tool.inputSchema, format);
      if ("reason" in lowered) {
        const what = `The model cannot be offered ${tool.name}: ${lowered.reason}`;
        throw new ProtocolError(ErrorCode.InvalidParams, what);
      }
      return { name: names[index] as string, tool, schema: lowered.schema };
    }),
  );
}

function messagesOf(messages: readonly SamplingMessage[], names: ReadonlyMap<string, string>): BaseMessage[] {
  return messages.flatMap(({ role, content }): BaseMessage[] => {
    const blocks = Array.isArray(content) ? content : [content];
    const results = blocks.filter((block) => block.type === "tool_result");
    if (results.length > 0) {
      return results.map(({ toolUseId, content: given, structuredContent, isError }) => {
        const result = { content: given, ...(structuredContent === undefined ? {} : { structuredContent }) };
        const { text, images } = readResult(result, "model");
        const artifact: ToolArtifact = { images, untrusted: true };
        return new ToolMessage({
          tool_call_id: toolUseId,
          content: text.slice(0, MAX_RESULT),
          status: isError === true ? "error" : "success",
          artifact,
        });
      });
    }
    if (role === "user") return [new HumanMessage({ content: blocks.map(blockOf) as never })];
    const calls = blocks.filter((block) => block.type === "tool_use");
    return [
      new AIMessage({
        content: blocks
          .filter((block) => block.type === "text")
          .map(({ text }) => text)
          .join("\n"),
        tool_calls: calls.map(({ id, name, input }) => ({
          type: "tool_call" as const,
          id,
          name: names.get(name) ?? name,
          args: input,
        })),
      }),
    ];
  });
}

/** @throws ProtocolError (−32602) for what no model here takes */
function blockOf(block: SamplingContent): object {
  if (block.type === "text") return { type: "text", text: block.text };
  if (block.type === "image")
    return { type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } };
  throw new ProtocolError(ErrorCode.InvalidParams, `The model takes no content of type ${block.type}`);
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  length: "maxTokens",
  max_tokens: "maxTokens",
  stop_sequence: "stopSequence",
};

function resultOf(
  message: AIMessage,
  model: Model,
  originals: ReadonlyMap<string, string>,
): CreateMessageResult {
  const calls = (message.tool_calls ?? []).map(({ id = "", name, args }) => ({
    type: "tool_use" as const,
    id,
    name: originals.get(name) ?? name,
    input: args as Record<string, unknown>,
  }));
  const text = { type: "text" as const, text: message.text };
  const why = String(message.response_metadata.finish_reason ?? message.response_metadata.stop_reason ?? "");
  return {
    role: "assistant",
    model: model.name,
    content: calls.length === 0 ? text : [...(message.text === "" ? [] : [text]), ...calls],
    stopReason: calls.length > 0 ? "toolUse" : (STOP_REASONS[why] ?? "endTurn"),
  };
}
