/** What came from the web as a page: by its type, or by how it begins where the type says nothing. */

import { visible, visibleLine } from "../visible.ts";
import { decode } from "./charset.ts";
import { type Page, type Source, UnreadableError } from "./page.ts";

const MAX_TITLE = 300;
const MAX_DESCRIPTION = 1000;

/**
 * @param most characters of its text that are kept
 * @throws UnreadableError when it is of another kind, or cannot be read
 */
export async function readSource(source: Source, most: number): Promise<Page> {
  const { title, description, markdown } = await readKind(source, most);
  return {
    title: title && (visibleLine(title, MAX_TITLE) || undefined),
    description: description && (visibleLine(description, MAX_DESCRIPTION) || undefined),
    markdown: visible(markdown).trim().slice(0, most),
  };
}

async function readKind(source: Source, most: number): Promise<Page> {
  const { bytes, contentType, url } = source;
  if (bytes.length === 0) throw new UnreadableError("the page is empty");
  switch (kindOf(source)) {
    // What reads a kind is loaded when one of it is there.
    case "html":
      return (await import("./html.ts")).readHtml(decode(bytes, contentType), url);
    case "pdf":
      return (await import("./pdf.ts")).readPdf(bytes, most);
    case "json":
      return { markdown: `\`\`\`json\n${indented(decode(bytes, contentType))}\n\`\`\`` };
    case "text":
      return { markdown: decode(bytes, contentType) };
    default:
      throw new UnreadableError(
        `it is ${typeOf(contentType) || "of a type that is not said"}, and what is read is HTML, PDF, JSON and text`,
      );
  }
}

type Kind = "html" | "pdf" | "json" | "text" | undefined;

function kindOf({ bytes, contentType }: Source): Kind {
  const type = typeOf(contentType);
  const start = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
  if (start.startsWith("%PDF-")) return "pdf";
  if (type === "application/pdf") return "pdf";
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  if (type === "application/json" || type.endsWith("+json")) return "json";
  if (type.startsWith("text/") || type.endsWith("+xml") || TEXTS.has(type)) return "text";
  if (type !== "" && type !== "application/octet-stream" && type !== "unknown/unknown") return undefined;
  if (
    /^\s*(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:!doctype html|html|head|body|title|meta|p|div|h1|table)[\s>]/i.test(
      start,
    )
  )
    return "html";
  if (/^\s*[[{]/.test(start) && isJson(bytes)) return "json";
  return isText(bytes) ? "text" : undefined;
}

const TEXTS = new Set([
  "application/xml",
  "application/javascript",
  "application/ecmascript",
  "application/x-javascript",
  "application/yaml",
  "application/x-yaml",
  "application/toml",
  "application/x-ndjson",
  "application/x-sh",
  "application/sql",
]);

/** The type without its parameters; nothing where what the site said is none. */
function typeOf(contentType: string): string {
  const type = (contentType.split(";")[0] ?? "").trim().toLowerCase();
  return /^[\w.+-]{1,50}\/[\w.+-]{1,100}$/.test(type) ? type : "";
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder().decode(bytes));
    return true;
  } catch {
    return false;
  }
}

/** Text has no NUL, but for the UTF-16 of which it then says so. */
function isText(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return (first ^ second) === 1 && first >= 0xfe ? true : !bytes.subarray(0, 4096).includes(0);
}

/** JSON as people write it; as it came where it is none, or too deep. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
