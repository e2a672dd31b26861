/** Tools as a request to a provider names them. */

import type { JsonSchema, Tool } from "@patchbay/core";
import { FORMATS, type ToolFormat } from "./formats.ts";

/** What is needed of a tool to tell a provider of it; an `OfferedTool` has it. */
export interface Definable {
  name: string;
  tool: Pick<Tool, "name" | "title" | "description" | "annotations">;
  schema: JsonSchema;
}

export interface OpenAIChatTool {
  type: "function";
  function: { name: string; description: string; parameters: JsonSchema };
}

export interface OpenAIResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: JsonSchema;
  strict: false;
}

export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: JsonSchema & { type: "object" };
}

export interface GeminiTool {
  functionDeclarations: { name: string; description: string; parameters?: JsonSchema }[];
}

export interface ToolDefinitions {
  openai: OpenAIChatTool[];
  "openai-responses": OpenAIResponsesTool[];
  anthropic: AnthropicTool[];
  gemini: GeminiTool[];
  deepseek: OpenAIChatTool[];
  ollama: OpenAIChatTool[];
}

/** Gives what goes into `tools` of a request: with Gemini one entry for all, elsewhere one for each. */
export function toolDefinitions<Format extends ToolFormat>(
  format: Format,
  tools: readonly Definable[],
): ToolDefinitions[Format];
export function toolDefinitions(
  format: ToolFormat,
  tools: readonly Definable[],
): ToolDefinitions[ToolFormat] {
  const described = tools.map((tool) => describe(tool, FORMATS[format].maxDescription));
  switch (format) {
    case "anthropic":
      return described.map(anthropicTool);
    case "gemini":
      return described.length === 0 ? [] : [{ functionDeclarations: described.map(geminiFunction) }];
    case "openai-responses":
      return described.map(openAIResponsesTool);
    default:
      return described.map(openAIChatTool);
  }
}

function anthropicTool({ name, description, schema }: Described): AnthropicTool {
  return { name, description, input_schema: { ...schema, type: "object" } };
}

function geminiFunction({
  name,
  description,
  schema,
}: Described): GeminiTool["functionDeclarations"][number] {
  // An object without properties is refused: who takes nothing has no parameters.
  return { name, description, ...(isEmpty(schema) ? {} : { parameters: schema }) };
}

/** Strict mode wants every property required; in this API it is the default. */
function openAIResponsesTool({ name, description, schema }: Described): OpenAIResponsesTool {
  return { type: "function", name, description, parameters: schema, strict: false };
}

function openAIChatTool({ name, description, schema }: Described): OpenAIChatTool {
  return { type: "function", function: { name, description, parameters: schema } };
}

interface Described {
  name: string;
  description: string;
  schema: JsonSchema;
}

/** Providers refuse an empty description, and have no place for a title; what is too long goes on in the schema. */
function describe({ name, tool, schema }: Definable, max = Number.POSITIVE_INFINITY): Described {
  const description = descriptionOf(tool);
  if (description.length <= max) return { name, description, schema };
  const end = Math.max(description.lastIndexOf(" ", max - 2), max / 2);
  const rest = description.slice(end).trim();
  const own = typeof schema.description === "string" ? ` ${schema.description}` : "";
  return {
    name,
    description: `${description.slice(0, end).trim()} …`,
    schema: { ...schema, description: `… ${rest}${own}` },
  };
}

/** What a model reads about a tool. */
export function descriptionOf(tool: Definable["tool"]): string {
  const title = tool.title ?? tool.annotations?.title;
  if (tool.description === undefined || tool.description === "") return title || tool.name;
  return title === undefined || title === "" || tool.description.includes(title)
    ? tool.description
    : `${title}. ${tool.description}`;
}

function isEmpty({ properties }: JsonSchema): boolean {
  return typeof properties !== "object" || properties === null || Object.keys(properties).length === 0;
}

const CHARACTERS_PER_TOKEN = 4;
const estimates = new WeakMap<object, number>();

/** About how many tokens tools cost in each request. */
export function estimateTokens(tools: readonly Definable[]): number {
  return tools.reduce((sum, tool) => sum + estimateTool(tool), 0);
}

function estimateTool(tool: Definable): number {
  const known = estimates.get(tool);
  if (known !== undefined) return known;
  const { name, description, schema } = describe(tool);
  const tokens = Math.ceil(
    (name.length + description.length + JSON.stringify(schema).length) / CHARACTERS_PER_TOKEN,
  );
  estimates.set(tool, tokens);
  return tokens;
}
