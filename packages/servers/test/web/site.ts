/** A site on loopback, each of whose paths answers as a test says; it counts what is asked of it. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface Site {
  /** `http://127.0.0.1:<port>`. */
  url: string;
  /** `127.0.0.1:<port>`. */
  host: string;
  port: number;
  /** Paths that were asked for, without robots.txt. */
  asked: string[];
  answers: Map<string, Answer>;
  close(): Promise<void>;
}

export async function startSite(): Promise<Site> {
  const answers: Site["answers"] = new Map();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    if (path !== "/robots.txt") asked.push(path);
    const answer = answers.get(path.split("?")[0] ?? "");
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    port,
    asked,
    answers,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

export function send(
  body: string | Uint8Array,
  headers: Record<string, string> = { "content-type": "text/html" },
) {
  return ((_request, response) => void response.writeHead(200, headers).end(body)) satisfies Answer;
}

export function redirect(location: string, status = 302): Answer {
  // As the bytes of UTF-8, which is how a site may send it.
  const bytes = Buffer.from(location).toString("latin1");
  return (_request, response) => void response.writeHead(status, { location: bytes }).end();
}

/** A PDF of so many pages, each with one line. */
export function pdf(lines: readonly string[], title = "A title"): Buffer {
  return pdfOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${lines.length} /Kids [${lines.map((_, index) => `${4 + index * 2} 0 R`).join(" ")}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...lines.flatMap((line, index) => [
      page(5 + index * 2),
      stream(line === "" ? "" : `BT /F1 12 Tf 72 700 Td (${line}) Tj ET`),
    ]),
    `<< /Title (${title}) >>`,
  ]);
}

/** A PDF of one page, whose content was deflated twice. */
export function packedPdf(content: Buffer): Buffer {
  return pdfOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    page(5),
    stream(content.toString("latin1"), "/Filter [/FlateDecode /FlateDecode]"),
    "<< >>",
  ]);
}

function page(contents: number): string {
  return `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${contents} 0 R >>`;
}

function stream(text: string, filters = ""): string {
  return `<< /Length ${text.length} ${filters} >>\nstream\n${text}\nendstream`;
}

/** @param objects the first is the catalog, the last says what it is about */
function pdfOf(objects: readonly string[]): Buffer {
  let file = "%PDF-1.4\n";
  const places = objects.map((object, index) => {
    const place = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const start = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  for (const place of places) file += `${String(place).padStart(10, "0")} 00000 n \n`;
  file += `trailer << /Size ${objects.length + 1} /Root 1 0 R /Info ${objects.length} 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(file, "latin1");
}
