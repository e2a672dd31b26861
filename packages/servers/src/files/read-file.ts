/** `read_file`: text by its lines, images and sound as they are, PDFs as their text. */

import { basename } from "node:path";
import type { ContentBlock } from "@patchbay/core";
import type { McpServer } from "@patchbay/server";
import { z } from "zod";
import { type Lines, linesOf, readLines } from "./lines.ts";
import { kindOf } from "./media.ts";
import { readAll, withContents } from "./reading.ts";
import { quoted } from "./roots.ts";
import { isUtf16, lenientUtf8, utf8 } from "./text.ts";
import { Path, type Workspace, withNamed } from "./workspace.ts";

/** Bytes that are read first: most files are no longer. */
const FIRST_BYTES = 64 * 1024;
const ALL_LINES = Number.MAX_SAFE_INTEGER;

const Read = z.object({
  path: z.string(),
  kind: z.enum(["text", "image", "audio", "pdf"]),
  mimeType: z.string(),
  bytes: z.int().describe("Size of the whole file"),
  text: z.string().optional(),
  startLine: z.int().optional(),
  endLine: z.int().optional().describe("Before startLine when there is no such line"),
  totalLines: z.int().optional().describe("Where the end of the file was seen"),
  truncated: z.boolean().optional().describe("Not all fits that was asked for; nextLine is where to go on"),
  nextLine: z.int().optional(),
  replaced: z.boolean().optional().describe("The file is no valid UTF-8: U+FFFD stands for what is none"),
});
type Read = z.output<typeof Read>;

export function offerReadFile(server: McpServer, workspace: Workspace): void {
  const { limits, allowed } = workspace;
  server.tool(
    "read_file",
    {
      title: "Read a file",
      description:
        "Reads a file: text (whole, or a range of lines), an image, sound, or the text of a PDF. " +
        "A long text is cut at a line, and says where to go on.",
      input: z.object({
        path: Path,
        start_line: z
          .int()
          .refine((line) => line !== 0, "lines are counted from 1; -50 means the last 50")
          .default(1)
          .describe(
            "The first line, from 1; a negative number counts from the end: -50 is the last 50 lines",
          ),
        end_line: z.int().min(1).optional().describe("The last line, which is included; default: the end"),
      }),
      output: Read,
      enabled: workspace.enabled,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ path, start_line, end_line = ALL_LINES }, ctx) => {
      if (start_line > end_line)
        throw new Error(`start_line (${start_line}) is behind end_line (${end_line})`);
      return withNamed(path, ctx, workspace, (pin) =>
        withContents(pin, path, allowed, async (readAt, size) => {
          const head = Buffer.allocUnsafe(Math.min(FIRST_BYTES, size));
          const first = head.subarray(0, await readAt(head, 0));
          const { kind, mimeType } = kindOf(first, basename(pin.real));
          const about = { path: pin.real, mimeType, bytes: size };
          const whole = () => readAll(readAt, size, path, limits);
          switch (kind) {
            case "binary":
              throw binary(path, first, about);
            case "image":
            case "audio":
              return shown(
                { ...about, kind },
                { type: kind, mimeType, data: (await whole()).toString("base64") },
              );
            case "pdf": {
              const source = { bytes: await whole(), contentType: mimeType, url: "" };
              const { markdown } = await workspace.readers.read(source, ctx.signal);
              return textOf({ ...about, kind }, linesOf(Buffer.from(markdown), start_line, end_line, limits));
            }
            case "text": {
              const lines =
                first.length === size
                  ? linesOf(first, start_line, end_line, limits)
                  : await readLines(readAt, start_line, end_line, limits, ctx.signal);
              return textOf({ ...about, kind }, lines);
            }
          }
        }),
      );
    },
  );
}

function textOf(about: Omit<Read, "text">, lines: Lines) {
  const { bytes, startLine, endLine, totalLines, truncated } = lines;
  const strict = utf8(bytes);
  const text = strict ?? lenientUtf8(bytes);
  const nextLine = truncated ? Math.max(endLine + 1, startLine + 1) : undefined;
  const read: Read = {
    ...about,
    text,
    startLine,
    endLine,
    ...(totalLines !== undefined && { totalLines }),
    ...(truncated && { truncated, nextLine }),
    ...(strict === undefined && { replaced: true }),
  };
  return shown(read, { type: "text", text: text + remark(read) });
}

/** What a model should know of a text that is not all there is. */
function remark({ startLine = 1, endLine = 0, totalLines, truncated, nextLine }: Read): string {
  if (truncated) return `\n[cut: lines ${startLine} to ${endLine}; go on with start_line: ${nextLine}]`;
  if (endLine < startLine && startLine > 1)
    return `[there is no line ${startLine}; the file has ${totalLines}]`;
  return "";
}

function shown(structuredContent: Read, block: ContentBlock) {
  return { content: [block], structuredContent: { ...structuredContent } };
}

function binary(path: string, head: Buffer, { mimeType, bytes }: { mimeType: string; bytes: number }): Error {
  const what = isUtf16(head)
    ? "text in UTF-16, which has to be converted to UTF-8 first"
    : "no text, image or PDF";
  return new Error(
    `${quoted(path)} (${mimeType}, ${bytes} bytes) holds ${what}; read as a resource, it gives its bytes`,
  );
}
