/** Content blocks and resource contents as a reader sees them. */

import type { ContentBlock, ResourceContents } from "@patchbay/core";

/** One block as text. What is no text is named by its type and size. */
export function describeBlock(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type}: ${block.mimeType}, ${byteSize(block.data)}]`;
    case "resource_link":
      return `[resource: ${block.title ?? block.name} <${block.uri}>]`;
    case "resource":
      return describeContents(block.resource);
    default:
      return `[${String((block as { type: unknown }).type)}: this kind of content is not known here]`;
  }
}

/** A resource's contents as text. */
export function describeContents(contents: ResourceContents): string {
  if ("text" in contents) return contents.text;
  return `[${contents.mimeType ?? "binary"}: ${contents.uri}, ${byteSize(contents.blob)}]`;
}

function byteSize(base64: string): string {
  return `${Buffer.byteLength(base64, "base64").toLocaleString("en")} bytes`;
}
