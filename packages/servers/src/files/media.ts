/** What a file holds: by its first bytes where they tell, else by the end of its name. */

import { extname } from "node:path";

/** How a file is shown. */
export type Kind = "text" | "image" | "audio" | "pdf" | "binary";

interface Signature {
  readonly mimeType: string;
  readonly kind: Kind;
  readonly bytes: string;
  /** Where the bytes are. Default 0. */
  readonly at?: number;
  /** What comes before, at 0. */
  readonly after?: string;
}

/** Of formats that models can see or hear. */
const SIGNATURES: readonly Signature[] = [
  { mimeType: "image/png", kind: "image", bytes: "\x89PNG\r\n\x1a\n" },
  { mimeType: "image/jpeg", kind: "image", bytes: "\xff\xd8\xff" },
  { mimeType: "image/gif", kind: "image", bytes: "GIF8" },
  { mimeType: "image/webp", kind: "image", bytes: "WEBP", at: 8, after: "RIFF" },
  { mimeType: "audio/wav", kind: "audio", bytes: "WAVE", at: 8, after: "RIFF" },
  { mimeType: "audio/ogg", kind: "audio", bytes: "OggS" },
  { mimeType: "audio/flac", kind: "audio", bytes: "fLaC" },
  { mimeType: "audio/mpeg", kind: "audio", bytes: "ID3" },
  { mimeType: "application/pdf", kind: "pdf", bytes: "%PDF-" },
];

/** By the ends of names, for what is text and for what is known to be none. */
const TYPES: Readonly<Record<string, string>> = {
  ".avif": "image/avif",
  ".bmp": "image/bmp",
  ".c": "text/x-c",
  ".cpp": "text/x-c++",
  ".css": "text/css",
  ".csv": "text/csv",
  ".gif": "image/gif",
  ".go": "text/x-go",
  ".gz": "application/gzip",
  ".htm": "text/html",
  ".html": "text/html",
  ".ico": "image/vnd.microsoft.icon",
  ".java": "text/x-java",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".js": "text/javascript",
  ".json": "application/json",
  ".jsonl": "application/jsonl",
  ".md": "text/markdown",
  ".mjs": "text/javascript",
  ".mp3": "audio/mpeg",
  ".mp4": "video/mp4",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".py": "text/x-python",
  ".rs": "text/x-rust",
  ".sh": "application/x-sh",
  ".sql": "application/sql",
  ".svg": "image/svg+xml",
  ".tar": "application/x-tar",
  ".toml": "application/toml",
  ".ts": "text/x-typescript",
  ".tsx": "text/x-typescript",
  ".txt": "text/plain",
  ".wasm": "application/wasm",
  ".wav": "audio/wav",
  ".webp": "image/webp",
  ".xml": "application/xml",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
  ".zip": "application/zip",
};

/** Bytes of the beginning that are looked at for what no text holds. */
const HEAD_BYTES = 8192;

/** What the first bytes of a file say of it. */
export function kindOf(head: Buffer, name: string): { kind: Kind; mimeType: string } {
  const found = SIGNATURES.find(
    ({ bytes, at = 0, after = "" }) => has(head, bytes, at) && has(head, after, 0),
  );
  if (found !== undefined) return { kind: found.kind, mimeType: found.mimeType };
  const binary = head.subarray(0, HEAD_BYTES).includes(0);
  const fallback = binary ? "application/octet-stream" : "text/plain";
  return { kind: binary ? "binary" : "text", mimeType: typeOf(name) ?? fallback };
}

/** What a name says of what is in a file. */
export function typeOf(name: string): string | undefined {
  return TYPES[extname(name).toLowerCase()];
}

function has(head: Buffer, bytes: string, at: number): boolean {
  return head.toString("latin1", at, at + bytes.length) === bytes;
}
