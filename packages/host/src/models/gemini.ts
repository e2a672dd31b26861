/**
 * LangChain's Gemini model over a client of ours. Google's would follow a redirect with the key, and waits without
 * end; and LangChain gives results of calls made at once a turn each, where Gemini wants all of them in one.
 */

import { createParser } from "eventsource-parser";
import type { ProviderSettings } from "./providers.ts";
import { timedFetch } from "./timed-fetch.ts";

/** Of one event of a stream: a piece of text, or an image that the model made. */
const MAX_EVENT_CHARACTERS = 64 * 1024 * 1024;
const NO_KEY = "none";

interface GeminiRequest {
  contents: { role: string; parts: unknown[] }[];
  [part: string]: unknown;
}

interface SendOptions {
  signal?: AbortSignal;
}

/** Loads the package, and makes the model. */
export async function loadGemini(settings: ProviderSettings) {
  const { model, key, baseUrl, temperature, maxTokens, timeoutMs, maxRetries, stream } = settings;
  const { ChatGoogleGenerativeAI } = await import("@langchain/google-genai");
  const chat = new ChatGoogleGenerativeAI({
    model,
    apiKey: key?.reveal() ?? NO_KEY,
    maxRetries,
    streaming: stream,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
  });
  const url = `${baseUrl.replace(/\/v1(beta)?$/, "")}/v1beta/models/${encodeURIComponent(chat.model)}`;
  // All that it asks of the client.
  const client = chat as unknown as { client: object };
  client.client = {
    generationConfig: { temperature, maxOutputTokens: maxTokens },
    generateContent: async (request: GeminiRequest, { signal }: SendOptions = {}) => ({
      response: await (await send("generateContent", request, signal)).json(),
    }),
    generateContentStream: async (request: GeminiRequest, { signal }: SendOptions = {}) => ({
      stream: eventsIn(await send("streamGenerateContent?alt=sse", request, signal)),
    }),
  };
  return chat;

  async function send(method: string, request: GeminiRequest, signal?: AbortSignal): Promise<Response> {
    // The package tries again by itself.
    return await timedFetch({ timeoutMs })(`${url}:${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-goog-api-key": key?.reveal() ?? NO_KEY },
      body: JSON.stringify({ ...request, contents: merged(request.contents) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

/** Turns of the same side that follow one another, as one. */
function merged(contents: GeminiRequest["contents"]): GeminiRequest["contents"] {
  const turns: GeminiRequest["contents"] = [];
  for (const { role, parts } of contents) {
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  }
  return turns;
}

async function* eventsIn(response: Response): AsyncGenerator<unknown> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  const events: string[] = [];
  let failure: Error | undefined;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: ({ data }) => events.push(data),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") failure = error;
    },
  });
  for await (const piece of response.body) {
    parser.feed(decoder.decode(piece, { stream: true }));
    if (failure !== undefined) throw failure;
    for (const data of events.splice(0)) yield JSON.parse(data);
  }
}
