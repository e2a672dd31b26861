/** The text of a PDF, page by page. */

import { getDocumentProxy } from "unpdf";
import { type Page, UnreadableError } from "./page.ts";

/**
 * @param most characters after which no more pages are read
 * @throws UnreadableError when it is locked, broken, or holds no text
 */
export async function readPdf(bytes: Uint8Array, most: number): Promise<Page> {
  const pdf = await open(bytes);
  const pages: string[] = [];
  let length = 0;
  for (let number = 1; number <= pdf.numPages && length <= most; number++) {
    const { items } = await (await pdf.getPage(number)).getTextContent();
    const text = items
      .map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : ""))
      .join("")
      .trim();
    if (text !== "") pages.push(pdf.numPages > 1 ? `## Page ${number}\n\n${text}` : text);
    length += text.length;
  }
  if (length === 0) throw new UnreadableError("the PDF holds no text; it may be a scan");
  return { ...(await aboutOf(pdf)), markdown: pages.join("\n\n") };
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

async function open(bytes: Uint8Array): Promise<Pdf> {
  try {
    return await getDocumentProxy(bytes, { verbosity: 0 });
  } catch (error) {
    const isLocked = (error as Error).name === "PasswordException";
    throw new UnreadableError(isLocked ? "the PDF is locked by a password" : "the PDF is broken", {
      cause: error,
    });
  }
}

async function aboutOf(pdf: Pdf): Promise<Pick<Page, "title" | "description">> {
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  const { Title, Subject } = info as { Title?: unknown; Subject?: unknown };
  return { title: said(Title), description: said(Subject) };
}

function said(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
