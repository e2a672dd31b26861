/** LangChain's messages ↔ those of a recording. */

import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { JsonObject, JsonValue } from "@patchbay/core";
import type { Usage } from "../events.ts";
import type { RecordedMessage, RecordedReply } from "./format.ts";

const ROLES: Readonly<Record<string, RecordedMessage["role"]>> = {
  human: "user",
  ai: "assistant",
  tool: "tool",
  system: "system",
};

export function toRecorded(message: BaseMessage): RecordedMessage {
  const role = ROLES[message.type] ?? "user";
  const recorded: RecordedMessage = { role, content: message.content as JsonValue };
  if (AIMessage.isInstance(message) && (message.tool_calls?.length ?? 0) > 0) {
    recorded.toolCalls = (message.tool_calls ?? []).map(({ id, name, args }) => ({
      ...(id !== undefined && { id }),
      name,
      arguments: args as JsonObject,
    }));
  }
  if (ToolMessage.isInstance(message)) {
    recorded.toolCallId = message.tool_call_id;
    if (message.status === "error") recorded.isError = true;
  }
  return recorded;
}

export function toRecordedReply(message: AIMessage): RecordedReply {
  const { invalid_tool_calls: invalid = [], additional_kwargs: extra } = message;
  return {
    ...toRecorded(message),
    role: "assistant",
    ...(invalid.length > 0 && { invalidToolCalls: invalid as unknown as JsonValue[] }),
    ...(Object.keys(extra).length > 0 && { extra: extra as JsonObject }),
  };
}

export function fromRecordedReply(
  { content, toolCalls = [], invalidToolCalls = [], extra = {} }: RecordedReply,
  usage: Usage | undefined,
): AIMessage {
  return new AIMessage({
    content: content as string,
    tool_calls: toolCalls.map(({ id, name, arguments: args }) => ({
      type: "tool_call" as const,
      ...(id !== undefined && { id }),
      name,
      args: args as Record<string, unknown>,
    })),
    invalid_tool_calls: invalidToolCalls as unknown as NonNullable<AIMessage["invalid_tool_calls"]>,
    additional_kwargs: extra,
    ...(usage && {
      usage_metadata: {
        input_tokens: usage.inputTokens,
        output_tokens: usage.outputTokens,
        total_tokens: usage.inputTokens + usage.outputTokens,
        ...(usage.cachedTokens !== undefined && {
          input_token_details: { cache_read: usage.cachedTokens },
        }),
      },
    }),
  });
}
