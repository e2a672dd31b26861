/** `stat`: what a path is, without reading it. */

import { lstat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { McpServer } from "@patchbay/server";
import { z } from "zod";
import { typeOf as mimeTypeOf } from "./media.ts";
import { withPin } from "./pin.ts";
import type { Roots } from "./roots.ts";
import { typeOf } from "./walk.ts";
import { Path, type Workspace, withNamed } from "./workspace.ts";

const Stat = z.object({
  path: z.string().describe("Where it really is"),
  uri: z.string().describe("Its resource"),
  type: z.enum(["file", "directory", "link", "other"]),
  link: z.boolean().describe("Whether the path is a symbolic link; the rest is of what it leads to"),
  size: z.int().describe("Bytes"),
  modified: z.string().describe("ISO 8601"),
  created: z.string().describe("ISO 8601"),
  mode: z.string().describe("Permissions, octal"),
  links: z.int().describe("How many names it has"),
  mimeType: z.string().optional().describe("By its name"),
});

export function offerStat(server: McpServer, workspace: Workspace): void {
  server.tool(
    "stat",
    {
      title: "Look at a path",
      description: "Tells what a path is: a file, a folder or a link, its size, times and permissions.",
      input: z.object({ path: Path }),
      output: Stat,
      enabled: workspace.enabled,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ path }, ctx) =>
      withNamed(path, ctx, workspace, async ({ real, stats }, roots) => {
        const mimeType = stats.isDirectory() ? "inode/directory" : mimeTypeOf(real);
        return {
          path: real,
          uri: pathToFileURL(real).href,
          type: typeOf(stats),
          link: await isLink(roots.locate(path), roots),
          size: stats.size,
          modified: stats.mtime.toISOString(),
          created: stats.birthtime.toISOString(),
          mode: (stats.mode & 0o7777).toString(8).padStart(4, "0"),
          links: stats.nlink,
          ...(mimeType !== undefined && { mimeType }),
        };
      }),
  );
}

async function isLink(path: string, roots: Roots): Promise<boolean> {
  if (roots.isRoot(path)) return false;
  const entry = await withPin(dirname(path), roots, (folder) => lstat(join(folder.via, basename(path))));
  return entry.isSymbolicLink();
}
