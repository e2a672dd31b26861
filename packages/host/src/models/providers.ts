/** The providers: how each is named, where it is, what it takes, and how its LangChain package is loaded. */

import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { LanguageProvider, ModelSettings } from "../settings.ts";
import { fetchWithThoughts } from "./thoughts.ts";
import { timedFetch } from "./timed-fetch.ts";

export interface Provider {
  title: string;
  defaultModel: string;
  baseUrl: string;
  /** Whether a model takes a temperature; a newer one that does not answers 400. */
  takesTemperature(model: string): boolean;
  /** What the package needs to be told where it is given tools. */
  toolSettings?(model: string): object;
  /** The package comes with the first question, not with the program. */
  load(settings: ProviderSettings): Promise<BaseChatModel>;
}

/** Settings with nothing left to decide. */
export interface ProviderSettings extends Omit<ModelSettings, "provider" | "model" | "baseUrl"> {
  model: string;
  baseUrl: string;
}

/** What an OpenAI-compatible server without keys is sent, for the package insists on one. */
const NO_KEY = "none";
/** A key and a conversation go where BASE_URL says, and nowhere else. */
const NO_REDIRECTS = { redirect: "error" } as const;

export const PROVIDERS: Record<LanguageProvider, Provider> = {
  openai: {
    title: "OpenAI",
    defaultModel: "gpt-4.1-mini",
    baseUrl: "https://api.openai.com/v1",
    takesTemperature: (model) => !/^(o\d|gpt-([5-9]|\d\d)(?!-chat))/.test(model),
    // There strict is the default, and wants every property required.
    toolSettings: (model) => (hasOnlyResponses(model) ? { strict: false } : {}),
    load: async (settings) => {
      const { ChatOpenAI } = await import("@langchain/openai");
      const useResponsesApi = hasOnlyResponses(settings.model);
      return new ChatOpenAI({ ...openAIFields(settings), useResponsesApi });
    },
  },
  deepseek: {
    title: "DeepSeek",
    defaultModel: "deepseek-chat",
    baseUrl: "https://api.deepseek.com",
    takesTemperature: () => true,
    load: async (settings) => {
      const { ChatDeepSeek } = await import("@langchain/deepseek");
      const fields = openAIFields(settings);
      return new ChatDeepSeek({
        ...fields,
        configuration: { ...fields.configuration, fetch: fetchWithThoughts },
      });
    },
  },
  anthropic: {
    title: "Anthropic",
    defaultModel: "claude-sonnet-4-6",
    baseUrl: "https://api.anthropic.com",
    takesTemperature: (model) => /^claude-(3|(opus|sonnet|haiku)-4(-[0-6])?(-\d{8})?$)/.test(model),
    load: async ({ model, key, baseUrl, temperature, maxTokens, timeoutMs, maxRetries, stream }) => {
      const { ChatAnthropic } = await import("@langchain/anthropic");
      return new ChatAnthropic({
        model,
        apiKey: key?.reveal() ?? NO_KEY,
        // The SDK adds /v1 itself.
        anthropicApiUrl: baseUrl.replace(/\/v1$/, ""),
        maxRetries,
        streaming: stream,
        clientOptions: { timeout: timeoutMs, maxRetries: 0, fetchOptions: NO_REDIRECTS },
        ...(temperature === undefined ? {} : { temperature }),
        ...(maxTokens === undefined ? {} : { maxTokens }),
      });
    },
  },
  gemini: {
    title: "Gemini",
    defaultModel: "gemini-2.5-flash",
    baseUrl: "https://generativelanguage.googleapis.com",
    takesTemperature: () => true,
    load: async (settings) => (await import("./gemini.ts")).loadGemini(settings),
  },
  ollama: {
    title: "Ollama",
    defaultModel: "",
    baseUrl: "http://127.0.0.1:11434",
    takesTemperature: () => true,
    load: async ({ model, key, baseUrl, temperature, maxTokens, timeoutMs, maxRetries, stream }) => {
      const { ChatOllama } = await import("@langchain/ollama");
      return new ChatOllama({
        model,
        // Its OpenAI-compatible half is at /v1.
        baseUrl: baseUrl.replace(/\/(v1|api)$/, ""),
        maxRetries: 0,
        streaming: stream,
        fetch: timedFetch({ timeoutMs, maxRetries }),
        ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key.reveal()}` } }),
        ...(temperature === undefined ? {} : { temperature }),
        ...(maxTokens === undefined ? {} : { numPredict: maxTokens }),
      });
    },
  },
  local: {
    title: "local",
    defaultModel: "",
    baseUrl: "",
    takesTemperature: () => true,
    load: loadOpenAI,
  },
};

/** OpenAI's models that do not speak Chat Completions. */
function hasOnlyResponses(model: string): boolean {
  return /codex|deep-research|^(o\d|gpt-\d+(\.\d+)?)-pro\b/.test(model);
}

async function loadOpenAI(settings: ProviderSettings): Promise<BaseChatModel> {
  const { ChatOpenAI } = await import("@langchain/openai");
  return new ChatOpenAI(openAIFields(settings));
}

function openAIFields({
  model,
  key,
  baseUrl,
  temperature,
  maxTokens,
  timeoutMs,
  maxRetries,
  stream,
}: ProviderSettings) {
  return {
    model,
    apiKey: key?.reveal() ?? NO_KEY,
    // Given even where it is the default: else the package would follow variables of its own.
    configuration: { baseURL: baseUrl, organization: null, project: null, fetchOptions: NO_REDIRECTS },
    timeout: timeoutMs,
    maxRetries,
    streaming: stream,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
}
