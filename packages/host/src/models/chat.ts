/** A language model, reached through its LangChain package. */

import type { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { HostError } from "../errors.ts";
import type { LanguageProvider } from "../settings.ts";
import { type Definable, toolDefinitions } from "../tools/definitions.ts";
import { explainFault } from "./faults.ts";
import { formatOf } from "./format.ts";
import type { Model, ModelReply, ModelRequest, ReplySettings } from "./model.ts";
import { PROVIDERS, type ProviderSettings } from "./providers.ts";

/** Makes the model; its package is loaded with the first question. */
export function chatModel(provider: LanguageProvider, settings: ProviderSettings, title?: string): Model {
  const { title: usual, load } = PROVIDERS[provider];
  const label = `${title ?? usual} ${settings.model}`;
  let loading: ReturnType<typeof load> | undefined;

  function chatFor({ maxTokens, temperature }: ReplySettings): ReturnType<typeof load> {
    if (maxTokens === undefined && temperature === undefined) {
      loading ??= load(settings);
      return loading;
    }
    const takes = PROVIDERS[provider].takesTemperature(settings.model);
    return load({
      ...settings,
      maxTokens: maxTokens ?? settings.maxTokens,
      temperature: takes ? (temperature ?? settings.temperature) : settings.temperature,
    });
  }

  async function reply(request: ModelRequest): Promise<ModelReply> {
    const { stop, toolChoice, ...own } = request.settings ?? {};
    const stall = stallGuard(settings);
    try {
      const chat = await chatFor(own);
      const { SystemMessage } = await import("@langchain/core/messages");
      const { finishedReply, historyFor } = await import("./history.ts");
      const tools = definitionsFor(provider, [...request.own, ...request.tools]);
      const runnable =
        tools.length > 0 && chat.bindTools !== undefined
          ? chat.bindTools(tools, {
              ...PROVIDERS[provider].toolSettings?.(settings.model),
              ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
            })
          : chat;
      const first = request.system === "" ? [] : [new SystemMessage(request.system)];
      const messages = [...first, ...historyFor(provider, request.messages)];
      const options = {
        signal: AbortSignal.any([request.signal, stall.signal]),
        ...(stop === undefined ? {} : { stop: [...stop] }),
      };
      let whole: AIMessage | AIMessageChunk | undefined;
      if (settings.stream) {
        let sum: AIMessageChunk | undefined;
        for await (const chunk of (await runnable.stream(
          messages,
          options,
        )) as AsyncIterable<AIMessageChunk>) {
          stall.alive();
          if (chunk.text !== "") request.onText(chunk.text);
          sum = sum === undefined ? chunk : sum.concat(chunk);
        }
        whole = sum;
      } else {
        whole = (await runnable.invoke(messages, options)) as AIMessage;
        if (whole.text !== "") request.onText(whole.text);
      }
      if (whole === undefined) throw new HostError("model", `${label} gave an empty answer.`);
      const message = finishedReply(whole);
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

/** The tools as the provider is sent them: the packages would lower the schemas again, each in its own way. */
function definitionsFor(provider: LanguageProvider, tools: readonly Definable[]): object[] {
  const format = formatOf(provider);
  return format === "none" ? [] : toolDefinitions(format, tools);
}

function emptyAnswer(label: string, { response_metadata: metadata }: AIMessage | AIMessageChunk): HostError {
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
 * piece they may try again, so that wait is allowed once for each attempt, with a pause before each.
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
