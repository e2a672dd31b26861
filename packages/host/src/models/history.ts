/** The history as each provider takes it: results marked as errors, and images where they may stand. */

import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { ProviderName } from "../settings.ts";
import type { ToolArtifact } from "../tools/langchain.ts";

/** Rewrites tool results for a provider; all other messages stay as they are. */
export function historyFor(provider: ProviderName, messages: readonly BaseMessage[]): BaseMessage[] {
  const rewritten: BaseMessage[] = [];
  for (let index = 0; index < messages.length; ) {
    const results: ToolMessage[] = [];
    for (; ToolMessage.isInstance(messages[index]); index++) results.push(messages[index] as ToolMessage);
    if (results.length > 0) rewritten.push(...resultsFor(provider, results));
    else rewritten.push(messages[index++] as BaseMessage);
  }
  return rewritten;
}

function resultsFor(provider: ProviderName, results: ToolMessage[]): BaseMessage[] {
  switch (provider) {
    case "anthropic":
      return [anthropicResults(results)];
    case "openai":
      return openAIResults(results);
    default:
      return results;
  }
}

/** All results of one step in one user turn; LangChain's own conversion would drop `is_error`. */
function anthropicResults(results: ToolMessage[]): HumanMessage {
  return new HumanMessage({
    content: results.map((result) => ({
      type: "tool_result",
      tool_use_id: result.tool_call_id,
      ...(result.status === "error" ? { is_error: true } : {}),
      content: [
        { type: "text", text: result.text },
        ...imagesOf(result).map(({ mimeType, data }) => ({
          type: "image",
          source: { type: "base64", media_type: mimeType, data },
        })),
      ],
    })),
  });
}

/** Tool messages are text only: images follow in a user turn. */
function openAIResults(results: ToolMessage[]): BaseMessage[] {
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
 * A reply whose calls all have an id and arguments. What was no JSON stays in `invalid_tool_calls`, and is a
 * call too, so that it gets its result: providers refuse a history with a call that has none.
 */
export function withWholeCalls(message: AIMessage): AIMessage {
  const broken = message.invalid_tool_calls ?? [];
  const calls = message.tool_calls ?? [];
  if (broken.length === 0 && calls.every((call) => call.id !== undefined)) return message;
  const stamp = () => `call_${crypto.randomUUID()}`;
  const named = broken.map((call) => ({ ...call, id: call.id ?? stamp() }));
  const { tool_calls: _, ...kwargs } = message.additional_kwargs;
  return new AIMessage({
    content: message.content as string,
    additional_kwargs: kwargs,
    response_metadata: message.response_metadata,
    ...(message.usage_metadata === undefined ? {} : { usage_metadata: message.usage_metadata }),
    invalid_tool_calls: named,
    tool_calls: [
      ...calls.map((call) => ({ ...call, id: call.id ?? stamp() })),
      ...named.map((call) => ({ type: "tool_call" as const, id: call.id, name: call.name ?? "", args: {} })),
    ],
  });
}
