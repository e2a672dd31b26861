/** Prompts: defined, listed, filled in (server/prompts). */

import {
  ErrorCode,
  type GetPromptResult,
  type Icon,
  isObject,
  type JsonObject,
  type Meta,
  metaFault,
  type Prompt,
  type PromptArgument,
  type PromptMessage,
  ProtocolError,
} from "@patchbay/core";
import { checkScopes } from "../auth/access.ts";
import { Context } from "../context.ts";
import type { Exchange } from "../exchange.ts";
import type { Enabled, Listed, Listing } from "../listing.ts";
import type { Complete } from "./completion.ts";
import { blockFault, checkMeta, isBlock } from "./content.ts";

/** What a prompt is, besides its name. */
export interface PromptDefinition {
  title?: string;
  description?: string;
  arguments?: PromptArgument[];
  icons?: Icon[];
  _meta?: Meta;
  /** Suggestions for the prompt's arguments. */
  complete?: Record<string, Complete>;
  /** Who it is offered to. Default: everybody. */
  enabled?: Enabled;
  /** Scopes that it takes: who lacks one does not see it listed, and is told so when getting it. */
  scopes?: readonly string[];
}

/** One message of the user's, messages, or a whole result. */
export type PromptReturn = string | PromptMessage[] | GetPromptResult;

export type PromptHandler = (
  args: Record<string, string>,
  context: Context,
) => PromptReturn | Promise<PromptReturn>;

export interface PromptEntry extends Listed {
  readonly definition: Prompt;
  readonly complete: Record<string, Complete>;
  readonly handler: PromptHandler;
}

export function promptEntry(name: string, prompt: PromptDefinition, handler: PromptHandler): PromptEntry {
  const { complete = {}, enabled, scopes, ...rest } = prompt;
  for (const argument of Object.keys(complete)) {
    if (!rest.arguments?.some((known) => known.name === argument)) {
      throw new Error(`Prompt "${name}" has no argument "${argument}"`);
    }
  }
  checkMeta(`Prompt "${name}"`, rest._meta);
  checkScopes(`Prompt "${name}"`, scopes);
  return { definition: { name, ...rest }, enabled, scopes, complete, handler };
}

/** Answers `prompts/get`. */
export async function getPrompt(
  prompts: Listing<PromptEntry>,
  params: JsonObject,
  exchange: Exchange,
): Promise<GetPromptResult> {
  const { name, arguments: given = {} } = params;
  if (typeof name !== "string") throw new ProtocolError(ErrorCode.InvalidParams, '"name" must be a string');
  const prompt = prompts.get(name, exchange);
  if (prompt === undefined) throw unknownPrompt(name, prompts.nearest(name, exchange));
  const args = checkArguments(given, prompt.definition);
  const messages = await prompt.handler(args, new Context(exchange, params));
  return toResult(messages, prompt.definition);
}

export function unknownPrompt(name: string, near: string | undefined): ProtocolError {
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  return new ProtocolError(ErrorCode.InvalidParams, `Unknown prompt: ${name.slice(0, 128)}${hint}`);
}

function checkArguments(given: unknown, prompt: Prompt): Record<string, string> {
  if (!isObject(given)) throw new ProtocolError(ErrorCode.InvalidParams, '"arguments" must be an object');
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== "string") {
      throw new ProtocolError(
        ErrorCode.InvalidParams,
        `Prompt "${prompt.name}": argument "${name}" must be a string`,
      );
    }
  }
  for (const { name, required } of prompt.arguments ?? []) {
    if (required && !Object.hasOwn(given, name)) {
      throw new ProtocolError(
        ErrorCode.InvalidParams,
        `Prompt "${prompt.name}": argument "${name}" is required`,
      );
    }
  }
  return given as Record<string, string>;
}

/** @throws Error when what the handler gave may not be sent */
function toResult(given: PromptReturn, { name, description }: Prompt): GetPromptResult {
  const whole = isObject(given) ? (given as GetPromptResult) : undefined;
  const messages: PromptMessage[] =
    typeof given === "string"
      ? [{ role: "user", content: { type: "text", text: given } }]
      : (whole?.messages ?? (given as PromptMessage[]));
  const fault = messagesFault(messages, whole?._meta);
  if (fault !== undefined) throw new Error(`Prompt "${name}": what it gave is not valid: ${fault}`);
  if (whole !== undefined) return whole;
  return description === undefined ? { messages } : { description, messages };
}

function messagesFault(messages: unknown, meta: unknown): string | undefined {
  const fault = meta === undefined ? undefined : metaFault(meta);
  if (fault !== undefined) return fault;
  if (!Array.isArray(messages)) return '"messages" is a list';
  for (const message of messages) {
    if (!isObject(message) || (message.role !== "user" && message.role !== "assistant"))
      return 'a message has a "role", "user" or "assistant"';
    if (!isBlock(message.content)) return 'the "content" of a message is one block of content';
    const wrong = blockFault(message.content);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
