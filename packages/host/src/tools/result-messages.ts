/** Outcomes as the messages of a provider's next request. */

import type { ToolFormat } from "./formats.ts";
import type { ToolOutcome } from "./outcome.ts";
import type { ModelImage } from "./result.ts";

export interface OpenAIImagePart {
  type: "image_url";
  image_url: { url: string };
}

export type OpenAIChatResult =
  | { role: "tool"; tool_call_id: string; content: string }
  | { role: "user"; content: ({ type: "text"; text: string } | OpenAIImagePart)[] };

export interface OpenAIResponsesResult {
  type: "function_call_output";
  call_id: string;
  output: string | ({ type: "input_text"; text: string } | OpenAIResponsesImage)[];
}

export interface OpenAIResponsesImage {
  type: "input_image";
  image_url: string;
  detail: "auto";
}

export interface AnthropicImage {
  type: "image";
  source: { type: "base64"; media_type: string; data: string };
}

export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  is_error?: true;
  content: ({ type: "text"; text: string } | AnthropicImage)[];
}

export interface AnthropicResults {
  role: "user";
  content: (AnthropicToolResult | AnthropicImage)[];
}

export interface GeminiResults {
  role: "user";
  parts: (
    | { functionResponse: { id?: string; name: string; response: { result: string } | { error: string } } }
    | { inlineData: { mimeType: string; data: string } }
  )[];
}

export type OllamaResult =
  | { role: "tool"; tool_name: string; content: string }
  | { role: "user"; content: string; images: string[] };

export interface ResultMessages {
  openai: OpenAIChatResult[];
  "openai-responses": OpenAIResponsesResult[];
  anthropic: AnthropicResults[];
  gemini: GeminiResults[];
  deepseek: OpenAIChatResult[];
  ollama: OllamaResult[];
}

/**
 * Gives the messages that follow the reply which asked for the calls. All outcomes of one reply go in together: a
 * provider refuses a call without its result.
 */
export function resultMessages<Format extends ToolFormat>(
  format: Format,
  outcomes: readonly ToolOutcome[],
): ResultMessages[Format];
export function resultMessages(
  format: ToolFormat,
  outcomes: readonly ToolOutcome[],
): ResultMessages[ToolFormat] {
  if (outcomes.length === 0) return [];
  switch (format) {
    case "anthropic":
      return [anthropicResults(outcomes)];
    case "openai-responses":
      return outcomes.map(responsesOutput);
    case "gemini":
      return [geminiResults(outcomes)];
    case "ollama":
      return [
        ...outcomes.map(({ name, text }) => ({ role: "tool" as const, tool_name: name, content: text })),
        ...outcomes
          .filter(({ images }) => images.length > 0)
          .map(({ name, images }) => ({
            role: "user" as const,
            content: returnedBy(name),
            images: images.map(({ data }) => data),
          })),
      ];
    case "openai":
      return [...outcomes.map(toolMessage), ...imagesTurn(outcomes)];
    case "deepseek":
      // It takes no images; the text says what they were.
      return outcomes.map(toolMessage);
  }
}

function responsesOutput({ id, text, images }: ToolOutcome): OpenAIResponsesResult {
  if (images.length === 0) return { type: "function_call_output", call_id: id, output: text };
  const pictures = images.map(
    (image): OpenAIResponsesImage => ({ type: "input_image", image_url: dataUrl(image), detail: "auto" }),
  );
  return { type: "function_call_output", call_id: id, output: [{ type: "input_text", text }, ...pictures] };
}

function toolMessage({ id, text }: ToolOutcome): OpenAIChatResult {
  return { role: "tool", tool_call_id: id, content: text };
}

/** Tool messages are text only: images follow in a user turn. */
function imagesTurn(outcomes: readonly ToolOutcome[]): OpenAIChatResult[] {
  const content = outcomes.flatMap(({ name, images }) =>
    images.length === 0
      ? []
      : [
          { type: "text" as const, text: returnedBy(name) },
          ...images.map((image) => ({ type: "image_url" as const, image_url: { url: dataUrl(image) } })),
        ],
  );
  return content.length === 0 ? [] : [{ role: "user", content }];
}

/** All results of a reply stand in one turn, before all else; one that is marked as an error holds text alone. */
function anthropicResults(outcomes: readonly ToolOutcome[]): AnthropicResults {
  const image = ({ mimeType, data }: ModelImage): AnthropicImage => ({
    type: "image",
    source: { type: "base64", media_type: mimeType, data },
  });
  const results = outcomes.map(
    ({ id, text, images, isError }): AnthropicToolResult => ({
      type: "tool_result",
      tool_use_id: id,
      ...(isError ? { is_error: true } : {}),
      content: [{ type: "text", text }, ...(isError ? [] : images.map(image))],
    }),
  );
  const after = outcomes.filter(({ isError }) => isError).flatMap(({ images }) => images.map(image));
  return { role: "user", content: [...results, ...after] };
}

/** An id that we made up is none of Gemini's. */
const OWN_ID = /^call_[0-9a-f]{8}-[0-9a-f]{4}-/;

function geminiResults(outcomes: readonly ToolOutcome[]): GeminiResults {
  return {
    role: "user",
    parts: [
      ...outcomes.map(({ id, name, text, isError }) => ({
        functionResponse: {
          ...(OWN_ID.test(id) ? {} : { id }),
          name,
          response: isError ? { error: text } : { result: text },
        },
      })),
      ...outcomes.flatMap(({ images }) =>
        images.map(({ mimeType, data }) => ({ inlineData: { mimeType, data } })),
      ),
    ],
  };
}

function returnedBy(name: string): string {
  return `Returned by ${name}:`;
}

function dataUrl({ mimeType, data }: ModelImage): string {
  return `data:${mimeType};base64,${data}`;
}
