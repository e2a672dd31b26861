/** `search_files`: files by their names, by the text in them, or by both. */

import type { Context, McpServer } from "@patchbay/server";
import { z } from "zod";
import { alternatives, type Glob, matchesGlob, parseGlob } from "./glob.ts";
import { BeyondLimitError } from "./limits.ts";
import { visible } from "./list-directory.ts";
import { type Finder, finderOf } from "./pattern.ts";
import type { Pin } from "./pin.ts";
import { openEntry, readAll } from "./reading.ts";
import { quoted } from "./roots.ts";
import { lenientUtf8 } from "./text.ts";
import { type Entry, Walk } from "./walk.ts";
import { Path, type Workspace, withNamed } from "./workspace.ts";

/** Characters of text that are searched in one go. */
const BATCH = 1_000_000;
/** Characters of a line that are shown. */
const MAX_LINE = 300;
const PROGRESS_EVERY = 1000;

const Match = z.object({
  path: z.string().describe("In the folder that was searched, with /"),
  type: z.enum(["file", "directory", "link", "other"]).optional(),
  line: z.int().optional().describe("From 1"),
  column: z.int().optional().describe("From 1, in characters"),
  text: z.string().optional().describe("The line, or the part of it around the match"),
});
type Match = z.output<typeof Match>;

const Found = z.object({
  path: z.string().describe("The folder that was searched"),
  matches: z.array(Match),
  truncated: z.boolean().describe("There may be more"),
  scanned: z.int().describe("Entries that were looked at"),
  skipped: z
    .int()
    .describe("Files and folders that were not searched: not text, too large, or not to be read"),
});

export function offerSearchFiles(server: McpServer, workspace: Workspace): void {
  const { limits } = workspace;
  server.tool(
    "search_files",
    {
      title: "Search files",
      description:
        "Finds files and folders by name, or lines in files by the text in them, in a folder and all folders in it. " +
        "What .gitignore names is passed over. One match of a line is given.",
      input: z.object({
        path: Path.default(".").describe("The folder; default: the first that may be used"),
        name: z
          .string()
          .min(1)
          .optional()
          .describe("A pattern: *.ts in any folder, src/**/*.{ts,tsx} from the folder that is searched"),
        text: z.string().min(1).optional().describe("Text that is in the file, as it is unless regex is set"),
        regex: z
          .boolean()
          .default(false)
          .describe("text is a regular expression (JavaScript, flags m and u)"),
        case_sensitive: z.boolean().default(true).describe("Of text; names always are"),
        include_ignored: z.boolean().default(false).describe("Search what .gitignore names, and .git, too"),
        max_results: z.int().min(1).max(limits.maxMatches).default(Math.min(100, limits.maxMatches)),
      }),
      output: Found,
      enabled: workspace.enabled,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ path, name, text, regex, case_sensitive, include_ignored, max_results }, ctx) => {
      if (name === undefined && text === undefined)
        throw new Error("give a name, a text, or both to search for");
      const globs = name === undefined ? undefined : namesOf(name);
      const find =
        text === undefined ? undefined : finderOf({ text, regex, caseSensitive: case_sensitive }, limits);
      return withNamed(path, ctx, workspace, async (folder, roots) => {
        if (!folder.stats.isDirectory()) throw new Error(`${quoted(path)} is no folder`);
        const search = new Search(globs, find, max_results, workspace, ctx);
        const options = { depth: limits.maxFolderDepth, includeIgnored: include_ignored, signal: ctx.signal };
        const walk = new Walk(options, workspace.allowed, (entries, within) => search.look(entries, within));
        const whole = await walk.through(folder, roots);
        await search.finish();
        return shown(folder.real, search, !whole || search.matches.length >= max_results, walk.unreadable);
      });
    },
  );
}

/** Without a slash a pattern is one of names, wherever they are. */
function namesOf(pattern: string): Glob[] {
  return alternatives(pattern).map((each) => parseGlob(each.includes("/") ? each : `**/${each}`));
}

/** A file that waits for its text to be searched. */
interface Waiting {
  readonly path: string;
  readonly text: string;
}

/** One search while it goes on. */
class Search {
  readonly matches: Match[] = [];
  scanned = 0;
  skipped = 0;
  readonly #globs: readonly Glob[] | undefined;
  readonly #find: Finder | undefined;
  readonly #most: number;
  readonly #workspace: Workspace;
  readonly #context: Context;
  #waiting: Waiting[] = [];
  #characters = 0;
  #bytes = 0;

  constructor(
    globs: readonly Glob[] | undefined,
    find: Finder | undefined,
    most: number,
    workspace: Workspace,
    context: Context,
  ) {
    this.#globs = globs;
    this.#find = find;
    this.#most = most;
    this.#workspace = workspace;
    this.#context = context;
  }

  /** @returns whether it goes on */
  async look(entries: readonly Entry[], folder: Pin): Promise<boolean> {
    const { maxScanned } = this.#workspace.limits;
    for (const entry of entries) {
      if (++this.scanned > maxScanned) {
        const advice = "; search a folder in it, or for fewer names";
        throw new BeyondLimitError("maxScanned", maxScanned, "there are more entries", advice);
      }
      if (this.scanned % PROGRESS_EVERY === 0) {
        this.#context.progress(
          this.scanned,
          undefined,
          `${this.scanned} looked at, ${this.matches.length} found`,
        );
      }
      if (this.#globs?.some((glob) => matchesGlob(glob, entry.names)) === false) continue;
      const path = entry.names.join("/");
      if (this.#find === undefined) this.matches.push({ path, type: entry.type });
      else if (entry.type === "file") await this.#take(folder, entry.name, path);
      if (this.matches.length >= this.#most) return false;
    }
    return true;
  }

  /** Searches what waits still. */
  async finish(): Promise<void> {
    const [waiting, find] = [this.#waiting, this.#find];
    this.#waiting = [];
    this.#characters = 0;
    if (waiting.length === 0 || find === undefined) return;
    const found = find(
      waiting.map(({ text }) => text),
      this.#most - this.matches.length,
    );
    for (const [index, places] of found.entries()) {
      const { path, text } = waiting[index] as Waiting;
      let line = 1;
      let counted = 0;
      for (const { at, length } of places) {
        for (
          let next = text.indexOf("\n", counted);
          next !== -1 && next < at;
          next = text.indexOf("\n", counted)
        ) {
          line++;
          counted = next + 1;
        }
        this.matches.push({ path, line, ...aroundIn(text, counted, at, length) });
      }
    }
  }

  async #take(folder: Pin, name: string, path: string): Promise<void> {
    const { allowed, limits } = this.#workspace;
    this.#context.signal.throwIfAborted();
    const file = await openEntry(folder, name, allowed);
    if (file === undefined || file.size > limits.maxFileBytes) {
      file?.close();
      this.skipped++;
      return;
    }
    try {
      this.#bytes += file.size;
      if (this.#bytes > limits.maxScannedBytes) {
        const advice = "; search a folder in it, or name the files";
        throw new BeyondLimitError(
          "maxScannedBytes",
          limits.maxScannedBytes,
          "there are more bytes to search",
          advice,
        );
      }
      const bytes = await readAll(file.readAt, file.size, path, limits);
      if (bytes.subarray(0, 8192).includes(0)) this.skipped++;
      else {
        const text = lenientUtf8(bytes);
        this.#waiting.push({ path, text });
        this.#characters += text.length;
      }
    } finally {
      file.close();
    }
    if (this.#characters >= BATCH) await this.finish();
  }
}

/** The line of a match, or the part around it where it is long. */
function aroundIn(
  text: string,
  lineStart: number,
  at: number,
  length: number,
): { column: number; text: string } {
  const newline = text.indexOf("\n", at);
  const lineEnd = newline === -1 ? text.length : newline;
  const room = Math.max(0, Math.floor((MAX_LINE - Math.min(length, MAX_LINE)) / 2));
  const from = lineEnd - lineStart <= MAX_LINE ? lineStart : Math.max(lineStart, at - room);
  const to = Math.min(lineEnd, from + MAX_LINE);
  const part = text.slice(from, to).replace(/\r$/, "");
  return {
    column: at - lineStart + 1,
    text: `${from > lineStart ? "…" : ""}${part}${to < lineEnd ? "…" : ""}`,
  };
}

function shown(path: string, search: Search, truncated: boolean, unreadable: number) {
  const { matches, scanned } = search;
  const skipped = search.skipped + unreadable;
  const lines = matches.map(({ path, type, line, text }) =>
    line === undefined
      ? `${visible(path)}${type === "directory" ? "/" : ""}`
      : `${visible(path)}:${line}: ${text}`,
  );
  const end = truncated
    ? `[cut at ${matches.length}: narrow it, or raise max_results]`
    : `[${matches.length} found among ${scanned} entries${skipped > 0 ? `; ${skipped} of them not searched` : ""}]`;
  return {
    content: [{ type: "text" as const, text: [...lines, end].join("\n") }],
    structuredContent: { path, matches, truncated, scanned, skipped },
  };
}
