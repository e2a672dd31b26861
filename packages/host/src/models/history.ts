/** The history as each provider takes it: results marked as errors, and images where they may stand. */

import {
  AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { isObject, parseJson } from "@patchbay/core";
import type { ProviderName } from "../settings.ts";
import type { ToolArtifact } from "../tools/langchain.ts";
import { rememberThoughts } from "./thoughts.ts";

/** Rewrites tool results for a provider; all other messages stay as they are. */
export function historyFor(provider: ProviderName, messages: readonly BaseMessage[]): BaseMessage[] {
  const rewritten: BaseMessage[] = [];
  for (let index = 0; index < messages.length; ) {
    const results: ToolMessage[] = [];
    for (; ToolMessage.isInstance(messages[index]); index++) results.push(messages[index] as ToolMessage);
    if (results.length > 0) rewritten.push(...resultsFor(provider, results));
    else {
      const message = messages[index++] as BaseMessage;
      rewritten.push(provider === "deepseek" ? rememberThoughts(message) : message);
    }
  }
  return rewritten;
}

function resultsFor(provider: ProviderName, results: ToolMessage[]): BaseMessage[] {
  switch (provider) {
    case "anthropic":
      return [anthropicResults(results)];
    case "openai":
    case "gemini":
    case "ollama":
      return withImages(results);
    default:
      return results;
  }
}

/**
 * All results of one step in one user turn; LangChain's own conversion would drop `is_error`. A result that is
 * marked as an error holds text alone: its images follow.
 */
function anthropicResults(results: ToolMessage[]): HumanMessage {
  const images = (result: ToolMessage) =>
    imagesOf(result).map(({ mimeType, data }) => ({
      type: "image",
      source: { type: "base64", media_type: mimeType, data },
    }));
  const isError = ({ status }: ToolMessage) => status === "error";
  const blocks = results.map((result) => ({
    type: "tool_result",
    tool_use_id: result.tool_call_id,
    ...(isError(result) ? { is_error: true } : {}),
    content: [{ type: "text", text: result.text }, ...(isError(result) ? [] : images(result))],
  }));
  return new HumanMessage({ content: [...blocks, ...results.filter(isError).flatMap(images)] });
}

/** Tool messages are text only: images follow in a user turn. */
function withImages(results: ToolMessage[]): BaseMessage[] {
  const content = results.flatMap((result) => {
    const images = imagesOf(result);
    if (images.length === 0) return [];
    return [
      { type: "text", text: `Returned by ${result.name ?? "the tool"}:` },
      ...images.map(({ mimeType, data }) => ({
        type: "image_url",
        image_url: { url: `data:${mimeType};base64,${data}` },
      })),
    ];
  });
  return content.length === 0 ? results : [...results, new HumanMessage({ content })];
}

function imagesOf(message: ToolMessage): ToolArtifact["images"] {
  return (message.artifact as ToolArtifact | undefined)?.images ?? [];
}

/**
 * A reply as the history keeps it. Each of its calls has an id of its own, for each must get its answer and result. Arguments that
 * are not whole JSON are in `invalid_tool_calls` too: LangChain mends what a stream left unfinished, and a
 * mended command is not the one that was meant.
 */
export function finishedReply(reply: AIMessage | AIMessageChunk): AIMessage {
  const calls = withOwnIds(
    "tool_call_chunks" in reply ? readChunks(reply.tool_call_chunks ?? []) : readCalls(reply),
  );
  // OpenAI's own copy of the calls, which would otherwise be sent back with the ids it lacks.
  const { tool_calls: _, ...kwargs } = reply.additional_kwargs;
  return new AIMessage({
    content: reply.content as string,
    additional_kwargs: kwargs,
    response_metadata: reply.response_metadata,
    ...(reply.usage_metadata === undefined ? {} : { usage_metadata: reply.usage_metadata }),
    tool_calls: calls.map(({ id, name, args = {} }) => ({ type: "tool_call", id, name, args })),
    invalid_tool_calls: calls.flatMap(({ id, name, args }) => (args === undefined ? [{ id, name }] : [])),
  });
}

interface ReadCall {
  id: string;
  name: string;
  /** Missing when they were no JSON object. */
  args?: Record<string, unknown>;
}

function readCalls({ tool_calls: good = [], invalid_tool_calls: bad = [] }: AIMessage): ReadCall[] {
  return [
    ...good.map(({ id, name, args }) => ({ id: id || newId(), name, args })),
    ...bad.map(({ id, name = "" }) => ({ id: id || newId(), name })),
  ];
}

function readChunks(chunks: NonNullable<AIMessageChunk["tool_call_chunks"]>): ReadCall[] {
  return chunks.map(({ id: given, name = "", args }) => {
    const id = given || newId();
    if (args === undefined || args.trim() === "") return { id, name, args: {} };
    try {
      const value = parseJson(args);
      return isObject(value) ? { id, name, args: value } : { id, name };
    } catch {
      return { id, name };
    }
  });
}

/** Some servers of models give all calls of a reply the same id. */
function withOwnIds(calls: readonly ReadCall[]): ReadCall[] {
  const taken = new Set<string>();
  return calls.map((call) => {
    const id = taken.has(call.id) ? newId() : call.id;
    taken.add(id);
    return { ...call, id };
  });
}

function newId(): string {
  return `call_${crypto.randomUUID()}`;
}
