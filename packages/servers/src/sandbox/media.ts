/** What a file that a command made is, by its name; and how it is read as a resource. */

import { extname } from "node:path";
import type { ResourceReturn } from "@patchbay/server";

const TYPES = new Map([
  [".txt", "text/plain"],
  [".log", "text/plain"],
  [".md", "text/markdown"],
  [".csv", "text/csv"],
  [".tsv", "text/tab-separated-values"],
  [".html", "text/html"],
  [".css", "text/css"],
  [".xml", "text/xml"],
  [".py", "text/x-python"],
  [".sh", "text/x-shellscript"],
  [".js", "text/javascript"],
  [".mjs", "text/javascript"],
  [".json", "application/json"],
  [".svg", "image/svg+xml"],
  [".png", "image/png"],
  [".jpg", "image/jpeg"],
  [".jpeg", "image/jpeg"],
  [".gif", "image/gif"],
  [".webp", "image/webp"],
  [".pdf", "application/pdf"],
  [".zip", "application/zip"],
  [".wav", "audio/wav"],
]);

/** Its name says it, or whether its bytes are text. */
export function mediaType(path: string, content: Uint8Array): string {
  const named = TYPES.get(extname(path).toLowerCase());
  return named ?? (asText(content) === undefined ? "application/octet-stream" : "text/plain");
}

/** A file as what `resources/read` gives: text where it is text. */
export function fileContents(uri: string, path: string, content: Uint8Array): ResourceReturn {
  const mimeType = mediaType(path, content);
  const text = asText(content);
  if (text !== undefined) return { uri, mimeType, text };
  return { uri, mimeType, blob: Buffer.from(content).toString("base64") };
}

/** A path in a URI: each of its names escaped. */
export function inUri(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

function asText(content: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
