/** The text of a PDF, page by page: taken out in a thread of its own, which is ended when it takes too long. */

import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";

export interface PdfLimits {
  /** Milliseconds for all of it. Default 30,000. */
  pdfTimeout: number;
  /** Pages that are looked at. Default 1000. */
  maxPages: number;
}

export const PDF_LIMITS: PdfLimits = { pdfTimeout: 30_000, maxPages: 1000 };

export interface PdfText {
  /** The text of each page that was looked at. */
  pages: string[];
  totalPages: number;
  title?: string;
}

/** Megabytes that the thread may take. */
const MEMORY = 512;
/** PDFs that are read at a time; the others wait. */
const AT_ONCE = 2;

let reading = 0;
const waiting: (() => void)[] = [];

/** Runs in the thread. Its text is the whole of the thread's program, so that it needs no file of its own beside the bundle. */
const PROGRAM = `
const { parentPort, workerData: { unpdf, bytes, maxPages } } = require("node:worker_threads");
const { getDocumentProxy } = require(unpdf);
(async () => {
  const pdf = await getDocumentProxy(bytes, { verbosity: 0 });
  const { info } = await pdf.getMetadata().catch(() => ({}));
  const pages = [];
  for (let number = 1; number <= Math.min(pdf.numPages, maxPages); number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    pages.push(items.map(({ str = "", hasEOL }) => (hasEOL ? str + "\\n" : str)).join(""));
    page.cleanup();
  }
  return { pages, totalPages: pdf.numPages, title: info?.Title || undefined };
})().then(
  (text) => parentPort.postMessage({ text }),
  ({ name, message }) => parentPort.postMessage({ failure: { name, message: String(message) } }),
);
`;

type Message = { text: PdfText } | { failure: { name: string; message: string } };

/**
 * @param signal ends it; its reason is thrown
 * @throws Error that says why there is no text: no PDF, a password, too long or too large (`pdfTimeout`)
 */
export async function readPdf(
  bytes: Uint8Array,
  { pdfTimeout, maxPages }: PdfLimits,
  signal: AbortSignal,
): Promise<PdfText> {
  if (reading === AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else reading++;
  try {
    return await readByThread(bytes, { pdfTimeout, maxPages }, signal);
  } finally {
    // Whoever waits gets the place.
    const next = waiting.shift();
    if (next === undefined) reading--;
    else next();
  }
}

async function readByThread(
  bytes: Uint8Array,
  { pdfTimeout, maxPages }: PdfLimits,
  signal: AbortSignal,
): Promise<PdfText> {
  signal.throwIfAborted();
  const unpdf = createRequire(import.meta.url).resolve("unpdf");
  const worker = new Worker(PROGRAM, {
    eval: true,
    // A copy: what is handed to a thread is gone here.
    workerData: { unpdf, bytes: new Uint8Array(bytes), maxPages },
    resourceLimits: { maxOldGenerationSizeMb: MEMORY },
    env: {},
    stdout: true,
    stderr: true,
  });
  const deadline = AbortSignal.timeout(pdfTimeout);
  const stop = AbortSignal.any([signal, deadline]);
  try {
    const message = await new Promise<Message>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", () =>
        reject(new Error(`the PDF takes more memory than there is for one (${MEMORY} MB)`)),
      );
      worker.once("exit", () => reject(new Error("the PDF could not be read")));
      stop.addEventListener("abort", () => reject(stop.reason), { once: true });
    });
    if ("text" in message) return message.text;
    throw new Error(said(message.failure));
  } catch (error) {
    signal.throwIfAborted();
    if (deadline.aborted)
      throw new Error(`the PDF was not read within pdfTimeout (${pdfTimeout} ms): it is too long, or broken`);
    throw error;
  } finally {
    await worker.terminate();
  }
}

function said({ name, message }: { name: string; message: string }): string {
  if (name === "PasswordException") return "the PDF needs a password";
  return `the PDF could not be read: ${message.slice(0, 200)}`;
}
