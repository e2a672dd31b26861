/** `list_directory`: what is in a folder, and in the folders in it if that is wanted. */

import type { Stats } from "node:fs";
import type { McpServer } from "@patchbay/server";
import { z } from "zod";
import { statsOf } from "./entries.ts";
import { quoted } from "./roots.ts";
import { type Entry, Walk } from "./walk.ts";
import { Path, type Workspace, withNamed } from "./workspace.ts";

const Listed = z.object({
  path: z.string().describe("The folder"),
  entries: z.array(
    z.object({
      path: z.string().describe("In the folder, with /"),
      type: z.enum(["file", "directory", "link", "other"]),
      size: z.int().optional().describe("Bytes of a file"),
      modified: z.string().optional().describe("ISO 8601"),
    }),
  ),
  truncated: z.boolean().describe("There is more than is listed"),
});
type Listed = z.output<typeof Listed>;

export function offerListDirectory(server: McpServer, workspace: Workspace): void {
  const { limits, allowed } = workspace;
  server.tool(
    "list_directory",
    {
      title: "List a folder",
      description:
        "Lists what is in a folder: names, types, sizes, times of change. With depth also what is in the folders in it, " +
        "without what .gitignore names. Without a path it lists the folders that may be used.",
      input: z.object({
        path: Path.optional(),
        depth: z.int().min(1).max(limits.maxFolderDepth).default(1).describe("1: this folder alone"),
        include_ignored: z
          .boolean()
          .optional()
          .describe("Whether what .gitignore names is listed; default: only with depth 1"),
      }),
      output: Listed,
      enabled: workspace.enabled,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    async ({ path, depth, include_ignored = depth === 1 }, ctx) => {
      if (path === undefined) {
        const { folders } = await workspace.rootsFor(ctx);
        const entries = folders.map((folder) => ({ path: folder, type: "directory" as const }));
        return shown({ path: "", entries, truncated: false }, "The folders that may be used:");
      }
      return withNamed(path, ctx, workspace, async (folder, roots) => {
        if (!folder.stats.isDirectory())
          throw new Error(`${quoted(path)} is no folder; read_file shows a file`);
        const entries: Listed["entries"] = [];
        const options = { depth, includeIgnored: include_ignored, signal: ctx.signal };
        const walk = new Walk(options, allowed, async (found, within) => {
          const room = limits.maxEntries - entries.length;
          const listed = found.slice(0, room);
          const stats = await statsOf(
            within,
            listed.map(({ name }) => name),
          );
          entries.push(...listed.map((entry, index) => described(entry, stats[index])));
          return found.length <= room;
        });
        const whole = await walk.through(folder, roots);
        const sorted = entries.sort((a, b) => (a.path < b.path ? -1 : 1));
        const cut = whole
          ? ""
          : `[cut: maxEntries is ${limits.maxEntries}; list a folder in it, or use search_files]`;
        return shown({ path: folder.real, entries: sorted, truncated: !whole }, `${folder.real}:`, cut);
      });
    },
  );
}

/** @param stats nothing where it is gone already */
function described({ names, type }: Entry, stats: Stats | undefined): Listed["entries"][number] {
  const path = names.join("/");
  if (stats === undefined) return { path, type };
  const modified = stats.mtime.toISOString();
  return type === "file" ? { path, type, size: stats.size, modified } : { path, type, modified };
}

function shown(listed: Listed, head: string, cut = "") {
  const lines = listed.entries.map(({ path, type, size }) => {
    const mark =
      type === "directory" ? "/" : type === "link" ? " (link)" : type === "other" ? " (special)" : "";
    return `${visible(path)}${mark}${size === undefined ? "" : `  ${size}`}`;
  });
  const text = [head, ...(lines.length === 0 ? ["(nothing)"] : lines), ...(cut === "" ? [] : [cut])].join(
    "\n",
  );
  return { content: [{ type: "text" as const, text }], structuredContent: listed };
}

/** A name on one line of its own. */
export function visible(name: string): string {
  return /\p{Cc}/u.test(name) ? quoted(name) : name;
}
