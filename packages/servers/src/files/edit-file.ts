/** `edit_file`: exact replacements, shown as a diff; with `dry_run` only shown. */

import type { McpServer } from "@patchbay/server";
import { z } from "zod";
import { edited } from "./edits.ts";
import { inWords } from "./failures.ts";
import { BeyondLimitError, type FilesLimits } from "./limits.ts";
import { withPin } from "./pin.ts";
import { readWhole } from "./reading.ts";
import { quoted, type Roots } from "./roots.ts";
import { utf8 } from "./text.ts";
import { Path, type Workspace } from "./workspace.ts";
import { replace, withTarget } from "./writing.ts";

const MAX_EDITS = 100;
const DIFF_MS = 500;

const Edited = z.object({
  path: z.string(),
  changed: z.boolean().describe("Whether the file is another now; false with dry_run"),
  diff: z.string().describe("What the edits change, as a unified diff"),
  truncated: z.boolean().optional().describe("The diff is longer than can be shown"),
});

export function offerEditFile(server: McpServer, workspace: Workspace): void {
  server.tool(
    "edit_file",
    {
      title: "Edit a file",
      description:
        "Replaces exact pieces of a text file, and gives the diff. Each old_text has to occur once, unless replace_all " +
        "is set; several edits are made one after another, all or none. dry_run shows the diff and changes nothing.",
      input: z.object({
        path: Path,
        edits: z
          .array(
            z.object({
              old_text: z.string().min(1).describe("What is there now, exactly, with its indentation"),
              new_text: z.string().describe("What is to be there instead; empty to remove it"),
              replace_all: z.boolean().default(false).describe("Replace every occurrence"),
            }),
          )
          .min(1)
          .max(MAX_EDITS),
        dry_run: z.boolean().default(false).describe("Only show what would change"),
      }),
      output: Edited,
      enabled: workspace.enabled,
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: false,
      },
    },
    async ({ path, edits, dry_run }, ctx) => {
      const roots = await workspace.rootsFor(ctx);
      const located = roots.locate(path);
      return inWords(path, roots, () =>
        workspace.turns.take(located, () =>
          withTarget(located, roots, false, async (target) => {
            const before = await textOf(located, path, roots, workspace);
            const after = edited(before, edits, workspace.limits.maxWriteBytes);
            const bytes = Buffer.from(after);
            if (bytes.length > workspace.limits.maxWriteBytes)
              throw new BeyondLimitError(
                "maxWriteBytes",
                workspace.limits.maxWriteBytes,
                "the file would have more bytes",
              );
            const shown = await diffOf(target.name, before, after, workspace.limits);
            ctx.signal.throwIfAborted();
            const changed = !dry_run && after !== before;
            if (changed) await replace(target, bytes, workspace.allowed, { unchanged: true });
            const remark = after === before ? "The edits change nothing" : shown.diff;
            return {
              content: [{ type: "text", text: remark }],
              structuredContent: { path: target.real, changed, ...shown },
            };
          }),
        ),
      );
    },
  );
}

/** @throws Error when it is no UTF-8, which could not be written back as it was */
async function textOf(located: string, named: string, roots: Roots, workspace: Workspace): Promise<string> {
  const bytes = await withPin(located, roots, (pin) =>
    readWhole(pin, named, workspace.allowed, workspace.limits),
  );
  const text = bytes.includes(0) ? undefined : utf8(bytes);
  if (text === undefined) throw new Error(`${quoted(named)} is no UTF-8 text, and cannot be edited as text`);
  return text;
}

async function diffOf(
  name: string,
  before: string,
  after: string,
  { maxReadBytes }: FilesLimits,
): Promise<{ diff: string; truncated?: boolean }> {
  if (before === after) return { diff: "" };
  const { createTwoFilesPatch } = await import("diff");
  const options = { context: 3, timeout: DIFF_MS };
  const diff = createTwoFilesPatch(`a/${name}`, `b/${name}`, before, after, undefined, undefined, options);
  if (diff === undefined) return { diff: "(too much differs to be shown)", truncated: true };
  // Without the line of "=" that some programs begin with.
  const plain = diff.slice(diff.indexOf("--- "));
  const bytes = Buffer.from(plain);
  if (bytes.length <= maxReadBytes) return { diff: plain };
  const end = Math.max(bytes.lastIndexOf("\n", maxReadBytes - 1) + 1, 0);
  return {
    diff: `${bytes.toString("utf8", 0, end)}[cut: maxReadBytes is ${maxReadBytes}]\n`,
    truncated: true,
  };
}
