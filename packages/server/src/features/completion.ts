/** Completion: suggestions for the arguments of prompts and templates (server/utilities/completion). */

import { type CompleteResult, ErrorCode, isObject, type JsonObject, ProtocolError } from "@patchbay/core";
import type { Exchange } from "../exchange.ts";
import type { Listing } from "../listing.ts";
import { type PromptEntry, unknownPrompt } from "./prompts.ts";
import type { ResourceEntry, ResourceTemplateEntry } from "./resources.ts";

/**
 * Suggests values for one argument, best first. The first 100 are sent.
 *
 * @param value what has been typed so far
 * @param others the arguments that are known already
 */
export type Complete = (
  value: string,
  others: Record<string, string>,
) => readonly string[] | Promise<readonly string[]>;

const MAX_VALUES = 100;

/** Answers `completion/complete`. */
export async function complete(
  prompts: Listing<PromptEntry>,
  resources: Listing<ResourceEntry>,
  templates: Listing<ResourceTemplateEntry>,
  params: JsonObject,
  exchange: Exchange,
): Promise<CompleteResult> {
  const { ref, argument, context } = params;
  if (!isObject(ref) || !isObject(argument)) throw invalid('"ref" and "argument" must be objects');
  const { name, value } = argument;
  if (typeof name !== "string" || typeof value !== "string") {
    throw invalid('"argument" must have a "name" and a "value", both strings');
  }
  const others = isObject(context) && isObject(context.arguments) ? context.arguments : {};
  const completes = completesOf(ref, prompts, resources, templates, exchange);
  const suggest = Object.hasOwn(completes, name) ? completes[name] : undefined;
  const values = suggest === undefined ? [] : await suggest(value, others as Record<string, string>);
  return {
    completion: {
      values: values.slice(0, MAX_VALUES),
      total: values.length,
      hasMore: values.length > MAX_VALUES,
    },
  };
}

function completesOf(
  ref: JsonObject,
  prompts: Listing<PromptEntry>,
  resources: Listing<ResourceEntry>,
  templates: Listing<ResourceTemplateEntry>,
  exchange: Exchange,
): Record<string, Complete> {
  if (ref.type === "ref/prompt" && typeof ref.name === "string") {
    const prompt = prompts.get(ref.name, exchange);
    if (prompt === undefined) throw unknownPrompt(ref.name, prompts.nearest(ref.name, exchange));
    return prompt.complete;
  }
  if (ref.type === "ref/resource" && typeof ref.uri === "string") {
    const template = templates.get(ref.uri, exchange);
    if (template !== undefined) return template.complete;
    if (resources.get(ref.uri, exchange) !== undefined) return {};
    throw invalid(`Unknown resource template: ${ref.uri}`);
  }
  throw invalid('"ref" must be {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…}');
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, message);
}
