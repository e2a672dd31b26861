/** A language model, reached through its LangChain package. */

import type { AIMessageChunk } from "@langchain/core/messages";
import { HostError } from "../errors.ts";
import type { KeyedProvider } from "../settings.ts";
import { explainFault } from "./faults.ts";
import type { Model, ModelReply, ModelRequest } from "./model.ts";
import { PROVIDERS, type ProviderSettings } from "./providers.ts";

/** Makes the model; its package is loaded with the first question. */
export function chatModel(
  provider: KeyedProvider | "local",
  settings: ProviderSettings,
  title?: string,
): Model {
  const { title: usual, load } = PROVIDERS[provider];
  const label = `${title ?? usual} ${settings.model}`;
  let loading: ReturnType<typeof load> | undefined;

  async function reply(request: ModelRequest): Promise<ModelReply> {
    loading ??= load(settings);
    const stall = stallGuard(settings);
    try {
      const chat = await loading;
      const { AIMessage, SystemMessage } = await import("@langchain/core/messages");
      const { historyFor, withWholeCalls } = await import("./history.ts");
      const runnable =
        request.bound.length > 0 && chat.bindTools !== undefined ? chat.bindTools(request.bound) : chat;
      const stream = await runnable.stream(
        [new SystemMessage(request.system), ...historyFor(provider, request.messages)],
        { signal: AbortSignal.any([request.signal, stall.signal]) },
      );
      let whole: AIMessageChunk | undefined;
      for await (const chunk of stream as AsyncIterable<AIMessageChunk>) {
        stall.alive();
        if (chunk.text !== "") request.onText(chunk.text);
        whole = whole === undefined ? chunk : whole.concat(chunk);
      }
      if (whole === undefined) throw new HostError("model", `${label} gave an empty answer.`);
      const message = withWholeCalls(
        new AIMessage({
          content: whole.content as string,
          tool_calls: whole.tool_calls ?? [],
          invalid_tool_calls: whole.invalid_tool_calls ?? [],
          additional_kwargs: whole.additional_kwargs,
          response_metadata: whole.response_metadata,
          ...(whole.usage_metadata === undefined ? {} : { usage_metadata: whole.usage_metadata }),
        }),
      );
      if (message.text === "" && (message.tool_calls ?? []).length === 0) throw emptyAnswer(label, whole);
      return { message, ok: true };
    } catch (error) {
      request.signal.throwIfAborted();
      if (error instanceof HostError) throw error;
      throw explainFault(stall.signal.aborted ? stall.signal.reason : error, title ?? usual, settings);
    } finally {
      stall.end();
    }
  }

  return { provider, name: settings.model, label, reply };
}

function emptyAnswer(label: string, { response_metadata: metadata }: AIMessageChunk): HostError {
  const why = metadata.finish_reason ?? metadata.stop_reason;
  if (why === "length" || why === "max_tokens") {
    return new HostError(
      "model",
      `${label} used up MAX_TOKENS before it said anything: set it higher.`,
      "MAX_TOKENS",
    );
  }
  return new HostError("model", `${label} gave an empty answer.`);
}

/**
 * Ends a stream that stands still: the packages time only the wait for a stream to begin. Until the first
 * piece they may try again, so that wait is allowed once for each attempt.
 */
function stallGuard({ timeoutMs, maxRetries }: ProviderSettings) {
  const controller = new AbortController();
  const expire = () => controller.abort(new DOMException("The model stands still", "TimeoutError"));
  const backoff = 10_000;
  let timer = setTimeout(expire, (timeoutMs + backoff) * (maxRetries + 1));
  return {
    signal: controller.signal,
    alive(): void {
      clearTimeout(timer);
      timer = setTimeout(expire, timeoutMs);
    },
    end(): void {
      clearTimeout(timer);
    },
  };
}
