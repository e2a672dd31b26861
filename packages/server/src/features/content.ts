/** Content that handlers give, told from other values and checked before it is sent (server/tools § Tool Result). */

import { type ContentBlock, isObject, metaFault, type ResourceContents } from "@patchbay/core";

/** @throws Error when a definition's `_meta` is not one */
export function checkMeta(what: string, meta: unknown): void {
  const fault = meta === undefined ? undefined : metaFault(meta);
  if (fault !== undefined) throw new Error(`${what}: ${fault}`);
}

/** Whether a value has what its type of content needs. */
export function isBlock(value: unknown): value is ContentBlock {
  if (!isObject(value)) return false;
  switch (value.type) {
    case "text":
      return typeof value.text === "string";
    case "image":
    case "audio":
      return typeof value.data === "string" && typeof value.mimeType === "string";
    case "resource":
      return isContents(value.resource);
    case "resource_link":
      return typeof value.uri === "string" && typeof value.name === "string";
    default:
      return false;
  }
}

/** Whether a value is what a resource holds: text, or base64 in `blob`. */
export function isContents(value: unknown): value is ResourceContents {
  if (!isObject(value) || typeof value.uri !== "string") return false;
  return typeof value.text === "string" || typeof value.blob === "string";
}

/** What is wrong with the values of a block, if anything is. */
export function blockFault(block: ContentBlock): string | undefined {
  if (block._meta !== undefined) {
    const fault = metaFault(block._meta);
    if (fault !== undefined) return fault;
  }
  switch (block.type) {
    case "image":
    case "audio":
      return isBase64(block.data) ? undefined : `the "data" of ${block.type} content is not base64`;
    case "resource":
      return contentsFault(block.resource);
    default:
      return undefined;
  }
}

/** What is wrong with the values of what a resource holds, if anything is. */
export function contentsFault(contents: ResourceContents): string | undefined {
  if (contents._meta !== undefined) {
    const fault = metaFault(contents._meta);
    if (fault !== undefined) return fault;
  }
  if (!("blob" in contents) || contents.blob === undefined || isBase64(contents.blob)) return undefined;
  return 'a "blob" is not base64';
}

/**
 * Whether a text is base64 (RFC 4648 § 4): with its padding, and without line breaks. Where there is a `Buffer` it
 * is decoded, which takes a fifth of what writing the message takes; a pattern takes as long as that.
 */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false;
  if (typeof Buffer === "undefined" || text.length < 64) return BASE64.test(text);
  // A decoder takes the URL's alphabet too, and passes over what it does not know.
  if (text.includes("-") || text.includes("_")) return false;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return Buffer.from(text, "base64").length === (text.length / 4) * 3 - padding;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
