/** What a result must look like before it is handed on: a server is not trusted to keep to its types. */

import { isObject, type JsonObject } from "@patchbay/core";
import { InvalidResponseError } from "./errors.ts";

/** What is wrong with an item, or nothing. */
export type ItemCheck = (item: JsonObject) => string | undefined;

export const isTool: ItemCheck = (tool) =>
  typeof tool.name !== "string"
    ? "has no name"
    : isObject(tool.inputSchema)
      ? undefined
      : "has no inputSchema";

export const isNamed: ItemCheck = (item) => (typeof item.name === "string" ? undefined : "has no name");

export const isResource: ItemCheck = (resource) =>
  typeof resource.uri === "string" ? undefined : "has no uri";

export const isTemplate: ItemCheck = (template) =>
  typeof template.uriTemplate === "string" ? undefined : "has no uriTemplate";

export const isContentBlock: ItemCheck = (block) =>
  typeof block.type === "string" ? undefined : "has no type";

export const isContents: ItemCheck = (contents) =>
  typeof contents.text === "string" || typeof contents.blob === "string"
    ? undefined
    : "has neither text nor blob";

export const isPromptMessage: ItemCheck = ({ role, content }) =>
  typeof role !== "string"
    ? "has no role"
    : isObject(content) && typeof content.type === "string"
      ? undefined
      : "has no content";

/**
 * The array that a result must have, with each of its items looked at.
 *
 * @throws InvalidResponseError that says where it is wrong
 */
export function arrayOf(method: string, result: JsonObject, key: string, check: ItemCheck): JsonObject[] {
  const items = result[key];
  if (!Array.isArray(items)) throw new InvalidResponseError(`${method}: the result has no "${key}" array`);
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    const wrong = isObject(item) ? check(item) : "is not an object";
    if (wrong !== undefined) throw new InvalidResponseError(`${method}: ${key}[${index}] ${wrong}`);
  }
  return items as JsonObject[];
}
