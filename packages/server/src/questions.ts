/** What a handler may ask of its client, and the answers checked: the same in both eras. */

import {
  type CreateMessageParams,
  type CreateMessageResult,
  type ElicitParams,
  ErrorCode,
  formatIssues,
  isObject,
  type JsonObject,
  type JsonSchema,
  type Parsed,
  ProtocolError,
  prepareSchema,
  type Root,
  type Schema,
  samplingFault,
} from "@patchbay/core";
import type { Dialogue } from "./exchange.ts";

/** What the user did with a form. */
export type Elicited<Content> =
  | { action: "accept"; content: Content }
  | { action: "decline" }
  | { action: "cancel" };

export interface QuestionOptions {
  /** Names the question to the client, among those of one request. Default: its number. */
  key?: string;
}

export interface VisitOptions extends QuestionOptions {
  /** Names the visit, as `ctx.elicitationId()` gave it, where its end is to be told (2025-11-25). */
  elicitationId?: string;
}

/** Asks the user to fill in a form. */
export async function elicitForm<S extends Schema>(
  dialogue: Dialogue,
  message: string,
  schema: S,
  { key }: QuestionOptions = {},
): Promise<Elicited<Parsed<S>>> {
  const prepared = prepareSchema(schema, "input");
  const params: ElicitParams = { mode: "form", message, requestedSchema: await asForm(prepared.json) };
  const answer = await dialogue.ask({ method: "elicitation/create", params }, key);
  const action = actionOf(answer);
  if (action !== "accept") return { action };
  const checked = await prepared.check(answer.content ?? {});
  if (checked.issues !== undefined) {
    throw badAnswer(`the content does not fit the requested schema: ${formatIssues(checked.issues)}`);
  }
  return { action, content: checked.value as Parsed<S> };
}

/** Asks the user to visit a page. `accept` means that they went there, not that they are done. */
export async function elicitUrl(
  dialogue: Dialogue,
  message: string,
  url: URL,
  { key, elicitationId }: VisitOptions = {},
): Promise<{ action: "accept" | "decline" | "cancel" }> {
  const named = elicitationId === undefined ? {} : { elicitationId };
  const params: ElicitParams = { mode: "url", message, url: url.href, ...named };
  return { action: actionOf(await dialogue.ask({ method: "elicitation/create", params }, key)) };
}

/** Asks the client's model. */
export async function sample(
  dialogue: Dialogue,
  params: CreateMessageParams,
  { key }: QuestionOptions = {},
): Promise<CreateMessageResult> {
  const fault = samplingFault(params.messages);
  if (fault !== undefined) throw new Error(`What is to be sampled is not in order: ${fault}`);
  const answer = await dialogue.ask({ method: "sampling/createMessage", params }, key);
  const { role, content, model } = answer;
  if ((role !== "user" && role !== "assistant") || typeof content !== "object" || typeof model !== "string") {
    throw badAnswer('a sampled message has a "role", "content" and "model"');
  }
  return answer as unknown as CreateMessageResult;
}

/** Asks where the client lets us work. */
export async function listRoots(dialogue: Dialogue, { key }: QuestionOptions = {}): Promise<Root[]> {
  const { roots } = await dialogue.ask({ method: "roots/list" }, key);
  if (!Array.isArray(roots) || !roots.every((root) => isObject(root) && typeof root.uri === "string")) {
    throw badAnswer('"roots" is a list of objects with a "uri"');
  }
  return roots as unknown as Root[];
}

/** What a field of a form may say of itself, by its type (client/elicitation § Requested Schema). */
const FIELD_KEYWORDS: Record<string, readonly string[]> = {
  string: [
    "title",
    "description",
    "minLength",
    "maxLength",
    "format",
    "default",
    "enum",
    "enumNames",
    "oneOf",
  ],
  number: ["title", "description", "minimum", "maximum", "default"],
  integer: ["title", "description", "minimum", "maximum", "default"],
  boolean: ["title", "description", "default"],
  array: ["title", "description", "minItems", "maxItems", "items", "default"],
};
const FORMATS: unknown[] = ["email", "uri", "date", "date-time"];

/**
 * The schema as a form may have it: a flat object of strings, numbers, booleans and choices. What else a schema says
 * of a value, such as its pattern, is left out, and checked when the answer is there.
 *
 * @throws Error when it is anything else
 */
async function asForm({ type, properties, required }: JsonSchema): Promise<JsonSchema> {
  const { compileSchema } = await import("@patchbay/core/schema");
  if (type !== "object" || !isObject(properties))
    throw new Error("An elicitation's schema is an object with properties");
  const fields: JsonObject = {};
  for (const [name, property] of Object.entries(properties)) {
    const field = isObject(property) ? asField(property) : undefined;
    if (field === undefined) {
      throw new Error(
        `An elicitation asks for flat values: "${name}" must be a string, number, boolean or a choice`,
      );
    }
    compileSchema(property as JsonSchema);
    fields[name] = field;
  }
  return required === undefined ? { type, properties: fields } : { type, properties: fields, required };
}

function asField(property: JsonObject): JsonObject | undefined {
  const type = String(property.type);
  const keywords = Object.hasOwn(FIELD_KEYWORDS, type) ? FIELD_KEYWORDS[type] : undefined;
  if (keywords === undefined) return undefined;
  const { items } = property;
  if (type === "array" && !(isObject(items) && (Array.isArray(items.enum) || Array.isArray(items.anyOf)))) {
    return undefined;
  }
  const field: JsonObject = { type };
  for (const keyword of keywords) {
    const value = property[keyword];
    if (value !== undefined && (keyword !== "format" || FORMATS.includes(value))) field[keyword] = value;
  }
  // A choice of one.
  if (type === "string" && property.const !== undefined) field.enum = [property.const];
  return field;
}

function actionOf({ action }: JsonObject): "accept" | "decline" | "cancel" {
  if (action === "accept" || action === "decline" || action === "cancel") return action;
  throw badAnswer('"action" must be "accept", "decline" or "cancel"');
}

function badAnswer(what: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `The client's answer is not valid: ${what}`);
}
