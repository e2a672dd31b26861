/** What a result must look like before it is handed on: a server is not trusted to keep to its types. */

import { isObject, type JsonObject } from "@patchbay/core";
import { InvalidResponseError } from "./errors.ts";

/** What is wrong with an item, or nothing. */
export type ItemCheck = (item: JsonObject) => string | undefined;

const text = (item: JsonObject, key: string): string | undefined =>
  typeof item[key] === "string" ? undefined : `has no ${key}`;

const described = (item: JsonObject): string | undefined =>
  item.description === undefined || typeof item.description === "string"
    ? undefined
    : "has a description that is no text";

export const isTool: ItemCheck = (tool) =>
  text(tool, "name") ?? described(tool) ?? (isObject(tool.inputSchema) ? undefined : "has no inputSchema");

export const isPrompt: ItemCheck = (prompt) => text(prompt, "name") ?? described(prompt);

export const isResource: ItemCheck = (resource) => text(resource, "uri") ?? described(resource);

export const isTemplate: ItemCheck = (template) => text(template, "uriTemplate") ?? described(template);

export const isContents: ItemCheck = (contents) =>
  typeof contents.text === "string" || typeof contents.blob === "string"
    ? undefined
    : "has neither text nor blob";

/** A block of a type that we do not know is handed on: whoever reads it passes it over. */
export const isContentBlock: ItemCheck = (block) => {
  switch (block.type) {
    case "text":
      return text(block, "text");
    case "image":
    case "audio":
      return text(block, "data") ?? text(block, "mimeType");
    case "resource_link":
      return text(block, "uri");
    case "resource":
      return isObject(block.resource) ? isContents(block.resource) : "has no resource";
    default:
      return text(block, "type");
  }
};

export const isPromptMessage: ItemCheck = ({ role, content }) => {
  if (typeof role !== "string") return "has no role";
  return isObject(content) ? isContentBlock(content) : "has no content block";
};

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
