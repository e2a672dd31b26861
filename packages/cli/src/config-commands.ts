/** The commands that are about the configuration itself. */

import type { Command } from "commander";
import type { Work } from "./program.ts";

/** How a command is added, as `createProgram` does it. */
export type AddCommand = (
  name: string,
  description: string,
  usage: string,
  examples: string[],
  more?: string,
) => Command;

/** Adds `import` and `approve`. */
export function addConfigCommands(add: AddCommand, perform: (work: Work) => Promise<void>): void {
  add(
    "import",
    "take over the servers of Claude Desktop, Claude Code, Cursor and VS Code",
    "[claude-desktop|claude-code|cursor|vscode…] [options]",
    [
      "patchbay import                                 shows what there is, and writes nothing",
      "patchbay import cursor vscode --write",
      "patchbay import --server github --write --overwrite",
    ],
    `
Secrets are not copied: each becomes \${VARIABLE}, and you are told where its value is.
A server that is there already and says something else is kept, unless --overwrite says otherwise; then the exit code is 1.`,
  )
    .argument("[applications...]")
    .option(
      "-s, --server <name>",
      "only this server; may be repeated",
      (value: string, before: string[] = []) => [...before, value],
    )
    .option("--config <file>", "write to this file instead of your own mcp.json")
    .option("--project", "also the servers of this folder's own files (.mcp.json, .cursor, .vscode)")
    .option("--write", "write; without it nothing is changed")
    .option("--overwrite", "replace servers of the same name")
    .action((applications: string[], options) =>
      perform(async (context) =>
        (await import("./commands/import.ts")).importServers(applications, options, context),
      ),
    );

  add(
    "approve",
    "agree to what the mcp.json of this folder starts",
    "[name…] [options]",
    ["patchbay approve", "patchbay approve github"],
    `
A folder's mcp.json may have come with the folder. On a terminal you are asked before its servers start for the first time,
and when an entry has changed since. Elsewhere a changed one is refused until you approve it.`,
  )
    .argument("[names...]")
    .action((names: string[]) =>
      perform(async (context) => (await import("./commands/approve.ts")).approveServers(names, context)),
    );
}
