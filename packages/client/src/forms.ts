/** A form that a server asks to be filled in: its defaults, and the check of what was filled in (client/elicitation). */

import {
  type ElicitFormParams,
  type ElicitResult,
  ErrorCode,
  formatIssues,
  isObject,
  type JsonObject,
  ProtocolError,
  type Validate,
} from "@patchbay/core";
import { AnswerError } from "./errors.ts";
import { boundedSchema } from "./schemas.ts";

/** Takes what the user filled in; gives what the server gets. */
export type Form = (content: unknown) => NonNullable<ElicitResult["content"]>;

/**
 * Reads a form.
 *
 * @throws ProtocolError (−32602) when its schema is none of a form
 */
export function readForm({ requestedSchema }: ElicitFormParams): Form {
  if (!isObject(requestedSchema) || requestedSchema.type !== "object") {
    throw new ProtocolError(ErrorCode.InvalidParams, "requestedSchema must be the JSON Schema of an object");
  }
  let validate: Validate;
  try {
    validate = boundedSchema(requestedSchema);
  } catch (error) {
    throw new ProtocolError(ErrorCode.InvalidParams, `requestedSchema: ${(error as Error).message}`);
  }
  const defaults = defaultsOf(requestedSchema.properties);
  return (content) => {
    if (content !== undefined && !isObject(content)) {
      throw new AnswerError("elicitation/create: the content of an accepted form must be an object");
    }
    const filled: JsonObject = Object.fromEntries(
      Object.entries(content ?? {}).filter(([, value]) => value !== undefined),
    );
    for (const [name, value] of defaults) {
      if (!Object.hasOwn(filled, name)) filled[name] = structuredClone(value);
    }
    const issues = validate(filled);
    if (issues !== undefined) {
      throw new AnswerError(`elicitation/create: the content does not fit the form: ${formatIssues(issues)}`);
    }
    return filled as NonNullable<ElicitResult["content"]>;
  };
}

/** What a field holds that was left alone (SEP-1034). */
function defaultsOf(properties: unknown): [string, JsonObject[string]][] {
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, field]) =>
    isObject(field) && field.default !== undefined ? [[name, field.default]] : [],
  );
}
