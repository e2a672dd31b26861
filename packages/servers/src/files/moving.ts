/** `move` and `delete`: what changes names, and what takes files away. */

import type { Dirent, Stats } from "node:fs";
import { lstat, opendir, rename, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Context, McpServer } from "@patchbay/server";
import { z } from "zod";
import { codeOf, inWords } from "./failures.ts";
import { BeyondLimitError, type FilesLimits } from "./limits.ts";
import { type Pin, pathIn, withChild, withPin } from "./pin.ts";
import { quoted, type Roots } from "./roots.ts";
import { Path, type Workspace } from "./workspace.ts";
import { giveName, withMadeFolder } from "./writing.ts";

export function offerMove(server: McpServer, workspace: Workspace): void {
  server.tool(
    "move",
    {
      title: "Move or rename",
      description:
        "Moves a file or a folder with all that is in it, or gives it another name. Folders that are missing on the way are made.",
      input: z.object({
        from: Path,
        to: Path.describe("Its new path, name included"),
        overwrite: z.boolean().default(false).describe("Replace a file that is there; never a folder"),
      }),
      output: z.object({ from: z.string(), to: z.string() }),
      enabled: workspace.enabled,
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: false,
      },
    },
    async ({ from, to, overwrite }, ctx) => {
      const roots = await workspace.rootsFor(ctx);
      const [source, destination] = [roots.locate(from), roots.locate(to)];
      return workspace.turns.take(source, () =>
        inWords(from, roots, () =>
          withEntry(source, from, roots, (folder, name, stats) =>
            inWords(to, roots, () =>
              withMadeFolder(dirname(destination), roots, async (target) => {
                const there = join(target.via, basename(destination));
                await moved(join(folder.via, name), stats, there, to, overwrite);
                return { from: join(folder.real, name), to: join(target.real, basename(destination)) };
              }),
            ),
          ),
        ),
      );
    },
  );
}

async function moved(
  from: string,
  stats: Stats,
  to: string,
  named: string,
  overwrite: boolean,
): Promise<void> {
  const there = await lstat(to).catch(() => undefined);
  if (there !== undefined && (!overwrite || stats.isDirectory() || !there.isFile())) {
    const advice = there.isFile() && !stats.isDirectory() ? "; overwrite: true replaces it" : "";
    throw new Error(`${quoted(named)} is there already${advice}`);
  }
  if (overwrite || stats.isDirectory()) return rename(from, to);
  // A rename would replace what came there meanwhile.
  await giveName(from, to);
}

/** Works on an entry of a folder, which may be a link: the link itself then. */
function withEntry<T>(
  path: string,
  named: string,
  roots: Roots,
  work: (folder: Pin, name: string, stats: Stats) => Promise<T>,
): Promise<T> {
  if (roots.isRoot(path))
    throw new Error(`${quoted(named)} is a folder that may be used, and stays where it is`);
  return withPin(dirname(path), roots, async (folder) => {
    const name = basename(path);
    const stats = await lstat(join(folder.via, name));
    if (!stats.isFile() && !stats.isDirectory() && !stats.isSymbolicLink())
      throw new Error(`${quoted(named)} is neither a file nor a folder, and is not touched`);
    return work(folder, name, stats);
  });
}

export function offerDelete(server: McpServer, workspace: Workspace): void {
  server.tool(
    "delete",
    {
      title: "Delete",
      description:
        "Deletes a file, a link (not what it leads to) or an empty folder; with recursive a folder and all that is in it. " +
        "It cannot be undone.",
      input: z.object({
        path: Path,
        recursive: z.boolean().default(false).describe("Delete a folder with all that is in it"),
      }),
      output: z.object({ path: z.string(), deleted: z.int().describe("Files and folders that are gone") }),
      enabled: workspace.enabled,
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: false,
      },
    },
    async ({ path, recursive }, ctx) => {
      const roots = await workspace.rootsFor(ctx);
      const located = roots.locate(path);
      return workspace.turns.take(located, () =>
        inWords(path, roots, () =>
          withEntry(located, path, roots, async (folder, name, stats) => {
            const real = join(folder.real, name);
            if (!stats.isDirectory()) await unlink(join(folder.via, name));
            else if (recursive)
              return { path: real, deleted: await new Deletion(workspace.limits, ctx).tree(folder, name) };
            else await rmdir(join(folder.via, name)).catch(notEmpty(path));
            return { path: real, deleted: 1 };
          }),
        ),
      );
    },
  );
}

function notEmpty(named: string): (error: unknown) => never {
  return (error) => {
    if (codeOf(error) !== "ENOTEMPTY") throw error;
    throw new Error(
      `${quoted(named)} is a folder that is not empty; recursive: true deletes all that is in it`,
    );
  };
}

/** One deletion of a folder, entry by entry; no link is followed. */
class Deletion {
  readonly #limits: FilesLimits;
  readonly #context: Context;
  #deleted = 0;

  constructor(limits: FilesLimits, context: Context) {
    this.#limits = limits;
    this.#context = context;
  }

  /** @returns how many are gone */
  async tree(parent: Pin, name: string | Buffer, depth = 0): Promise<number> {
    const { maxFolderDepth, maxScanned } = this.#limits;
    if (depth > maxFolderDepth)
      throw new BeyondLimitError("maxFolderDepth", maxFolderDepth, "folders are deeper");
    await withChild(parent, name, async (folder) => {
      // As bytes: so what is no valid Unicode can be deleted, too.
      const encoding = "buffer" as BufferEncoding;
      for await (const entry of await opendir(folder.via, { encoding })) {
        this.#context.signal.throwIfAborted();
        if (this.#deleted >= maxScanned)
          throw new BeyondLimitError(
            "maxScanned",
            maxScanned,
            "there is more to delete",
            "; call delete again",
          );
        await this.#entry(folder, entry as unknown as Dirent<Buffer>, depth);
      }
    });
    await rmdir(pathIn(parent, name));
    return this.#count();
  }

  async #entry(folder: Pin, entry: Dirent<Buffer>, depth: number): Promise<void> {
    if (entry.isDirectory()) await this.tree(folder, entry.name, depth + 1);
    else {
      await unlink(pathIn(folder, entry.name));
      this.#count();
    }
  }

  #count(): number {
    this.#deleted++;
    if (this.#deleted % 100 === 0)
      this.#context.progress(this.#deleted, undefined, `${this.#deleted} deleted`);
    return this.#deleted;
  }
}
