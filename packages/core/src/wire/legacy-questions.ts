/** What a legacy client is asked, as its revision can be asked it; nothing where it cannot. */

import { isObject, type JsonObject, type JsonValue } from "../json.ts";
import type { ElicitParams } from "../model/elicitation.ts";
import type { InputRequest } from "../model/input.ts";
import type { CreateMessageParams, SamplingMessage } from "../model/sampling.ts";
import type { JsonSchema } from "../schema/json-schema.ts";

/** Writes a block of content without what the revision lacks. */
type WriteBlock = (content: JsonValue | undefined) => JsonValue | undefined;

export function elicitation(params: ElicitParams, revision: string): InputRequest | undefined {
  const method = "elicitation/create";
  if (revision < "2025-06-18") return undefined;
  if (params.mode === "url") {
    if (revision < "2025-11-25") return undefined;
    return { method, params: { elicitationId: crypto.randomUUID(), ...params } };
  }
  const { mode: _, ...form } = params;
  if (revision >= "2025-11-25") return { method, params: form };
  const requestedSchema = plainForm(form.requestedSchema);
  return requestedSchema && { method, params: { ...form, requestedSchema } };
}

/** A form without what came with 2025-11-25: choices of several, defaults but of booleans, titles of choices by `oneOf`. */
function plainForm(schema: JsonSchema): JsonSchema | undefined {
  const { properties = {}, required = [] } = schema as { properties?: JsonObject; required?: string[] };
  const kept: JsonObject = {};
  for (const [name, field] of Object.entries(properties)) {
    const plain = isObject(field) ? plainField(field) : undefined;
    // What need not be answered is not asked.
    if (plain !== undefined) kept[name] = plain;
    else if (required.includes(name)) return undefined;
  }
  return { ...schema, properties: kept };
}

function plainField(field: JsonObject): JsonObject | undefined {
  if (field.type === "array") return undefined;
  if (field.type === "boolean") return field;
  const { default: _, oneOf, ...plain } = field;
  if (!Array.isArray(oneOf)) return plain;
  const choices = oneOf.filter(isObject);
  return {
    ...plain,
    enum: choices.map((choice) => choice.const as JsonValue),
    enumNames: choices.map((choice) => choice.title ?? (choice.const as JsonValue)),
  };
}

export function sampling(
  params: CreateMessageParams,
  revision: string,
  block: WriteBlock,
): InputRequest | undefined {
  const method = "sampling/createMessage";
  if (revision >= "2025-11-25") return { method, params };
  const { tools, toolChoice, messages } = params;
  if (tools !== undefined || toolChoice !== undefined || messages.some(usesTools)) return undefined;
  return {
    method,
    params: { ...params, messages: messages.flatMap((message) => single(message, block)) },
  };
}

function usesTools({ content }: SamplingMessage): boolean {
  const blocks = Array.isArray(content) ? content : [content];
  return blocks.some(({ type }) => type === "tool_use" || type === "tool_result");
}

/** A message for each block, because a message has one there, and nothing else but its role. */
function single({ role, content }: SamplingMessage, block: WriteBlock): SamplingMessage[] {
  const blocks = Array.isArray(content) ? content : [content];
  return blocks.map(
    (each) => ({ role, content: block(each as unknown as JsonValue) }) as unknown as SamplingMessage,
  );
}
