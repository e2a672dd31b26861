/** A tool's result as a model reads it: text, and the images that go beside it where a provider takes them. */

import { isDeepStrictEqual } from "node:util";
import type { CallToolResult } from "@patchbay/core";

export interface ModelImage {
  mimeType: string;
  /** Base64. */
  data: string;
}

export interface ReadableResult {
  text: string;
  images: ModelImage[];
}

/** What Anthropic and OpenAI both take. */
const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** Anthropic's limit on one image, in base64 characters. */
const MAX_IMAGE_CHARACTERS = 5 * 1024 * 1024;
/** Of one result: a request of all that a server likes to send is refused by every provider. */
const MAX_IMAGES = 20;
const MAX_ALL_IMAGES_CHARACTERS = 10 * 1024 * 1024;

/** A person reads the text, where there is any; a model gets `structuredContent` that says more, too. */
export type Reader = "model" | "person";

/**
 * Reads a result. Text that only repeats `structuredContent` is given once; `structuredContent` that no text
 * repeats is given as JSON; what cannot be shown is named in a line. Nothing a server sends makes it throw.
 */
export function readResult(result: CallToolResult, reader: Reader = "model"): ReadableResult {
  const parts: string[] = [];
  const images: ModelImage[] = [];
  const blocks: unknown[] = Array.isArray(result.content) ? result.content : [];
  for (const block of blocks) parts.push(readBlock(asRecord(block), images));
  const structured = result.structuredContent;
  const said = (block: unknown) =>
    reader === "person" ? asText(asRecord(block).text) !== "" : repeats(asRecord(block), structured);
  if (structured !== undefined && !blocks.some(said)) {
    parts.push(JSON.stringify(structured));
  }
  const text = parts.filter((part) => part !== "").join("\n\n");
  return { text: text === "" && images.length === 0 ? "(the tool returned nothing)" : text, images };
}

type Loose = Record<string, unknown>;

function readBlock(block: Loose, images: ModelImage[]): string {
  switch (block.type) {
    case "text":
      return asText(block.text);
    case "image":
      return readImage(block.mimeType, block.data, "image", images);
    case "audio":
      return `[audio ${asText(block.mimeType)}, ${size(block.data)}: not shown to the model]`;
    case "resource":
      return readResource(asRecord(block.resource), images);
    case "resource_link": {
      const about = [asText(block.mimeType), asText(block.title ?? block.description)].filter(
        (part) => part !== "",
      );
      const name = asText(block.name);
      return `[resource ${name === "" ? "" : `${name} `}at ${asText(block.uri)}${about.length > 0 ? `: ${about.join(", ")}` : ""}]`;
    }
    default:
      return `[content of type ${JSON.stringify(block.type ?? null)}: not shown to the model]`;
  }
}

function readResource(resource: Loose, images: ModelImage[]): string {
  const uri = asText(resource.uri);
  const type = asText(resource.mimeType);
  if (typeof resource.text === "string")
    return `[resource ${uri}${type === "" ? "" : `, ${type}`}]\n${resource.text}`;
  if (IMAGE_TYPES.has(type)) return readImage(type, resource.blob, `resource ${uri}, image`, images);
  return `[resource ${uri}${type === "" ? "" : `, ${type}`}, ${size(resource.blob)}: binary, not shown to the model]`;
}

function readImage(mimeType: unknown, data: unknown, what: string, images: ModelImage[]): string {
  const type = asText(mimeType);
  if (typeof data !== "string" || data === "" || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) {
    return `[${what} ${type}: not base64, not shown to the model]`;
  }
  if (!IMAGE_TYPES.has(type) || data.length > MAX_IMAGE_CHARACTERS) {
    return `[${what} ${type}, ${size(data)}: not shown to the model]`;
  }
  const characters = images.reduce((sum, image) => sum + image.data.length, data.length);
  if (images.length === MAX_IMAGES || characters > MAX_ALL_IMAGES_CHARACTERS) {
    return `[${what} ${type}, ${size(data)}: not shown to the model, which was given enough images]`;
  }
  images.push({ mimeType: type, data });
  return `[${what} ${type}, ${size(data)}]`;
}

/** Whether a block says what `structured` says and no more: the same JSON, or as text the one thing it says. */
function repeats(block: Loose, structured: unknown): boolean {
  if (block.type !== "text" || typeof block.text !== "string") return false;
  const text = block.text.trim();
  const values =
    typeof structured === "object" && structured !== null ? Object.values(structured) : [structured];
  if (values.length > 0 && values.every((value) => typeof value !== "object" && String(value) === text))
    return true;
  try {
    return isDeepStrictEqual(JSON.parse(text), structured);
  } catch {
    return false;
  }
}

function size(base64: unknown): string {
  const bytes = typeof base64 === "string" ? Math.floor((base64.replace(/=+$/, "").length * 3) / 4) : 0;
  return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function asRecord(value: unknown): Loose {
  return typeof value === "object" && value !== null ? (value as Loose) : {};
}
