/** `write_file` and `create_directory`. */

import type { McpServer } from "@patchbay/server";
import { z } from "zod";
import { inWords } from "./failures.ts";
import { BeyondLimitError } from "./limits.ts";
import { quoted } from "./roots.ts";
import { Path, type Workspace } from "./workspace.ts";
import { replace, withMadeFolder, withTarget } from "./writing.ts";

const Written = z.object({
  path: z.string(),
  created: z.boolean().describe("Whether there was no such file before"),
  bytes: z.int(),
});

export function offerWriteFile(server: McpServer, workspace: Workspace): void {
  const { limits, allowed, turns } = workspace;
  server.tool(
    "write_file",
    {
      title: "Write a file",
      description:
        "Writes a whole text file, new or in place of what is there; folders that are missing are made. " +
        "It is replaced at once or not at all, and keeps its permissions. To change a part, use edit_file.",
      input: z.object({
        path: Path,
        content: z.string().describe("All that is to be in the file"),
        overwrite: z.boolean().default(true).describe("false: fail when the file is there already"),
      }),
      output: Written,
      enabled: workspace.enabled,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    async ({ path, content, overwrite }, ctx) => {
      const bytes = Buffer.from(content);
      if (bytes.length > limits.maxWriteBytes)
        throw new BeyondLimitError("maxWriteBytes", limits.maxWriteBytes, "the content has more bytes");
      const roots = await workspace.rootsFor(ctx);
      const located = roots.locate(path);
      return inWords(path, roots, () =>
        turns.take(located, () =>
          withTarget(located, roots, true, async (target) => {
            ctx.signal.throwIfAborted();
            await replace(target, bytes, allowed, { overwrite });
            const created = target.current === undefined;
            const written = { path: target.real, created, bytes: bytes.length };
            const text = `${created ? "Created" : "Replaced"} ${quoted(target.real)}: ${bytes.length} bytes`;
            return { content: [{ type: "text", text }], structuredContent: written };
          }),
        ),
      );
    },
  );

  server.tool(
    "create_directory",
    {
      title: "Create a folder",
      description: "Makes a folder, and those on the way to it. Where it is there already, nothing happens.",
      input: z.object({ path: Path }),
      output: z.object({ path: z.string() }),
      enabled: workspace.enabled,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
    },
    async ({ path }, ctx) => {
      const roots = await workspace.rootsFor(ctx);
      return inWords(path, roots, () =>
        withMadeFolder(roots.locate(path), roots, async ({ real, stats }) => {
          if (!stats.isDirectory()) throw new Error(`${quoted(path)} is there already, and is no folder`);
          return { path: real };
        }),
      );
    },
  );
}
