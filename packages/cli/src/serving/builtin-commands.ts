/** `serve <built-in>`: a command for each server that comes with Patchbay, with its own options and its own help. */

import { type Builtin, type BuiltinSettings, optionName } from "@patchbay/servers";
import { type Command, Option } from "commander";
import type { ServeOptions } from "./plan.ts";

/** What a built-in server is told by the command line. */
export type Told = Pick<BuiltinSettings, "operands" | "options">;

type Values = Record<string, string | true | string[] | undefined>;

/**
 * @param serve the command that they stand below; its options are theirs too
 * @param run serves the one that was named
 */
export function addBuiltins(
  serve: Command,
  builtins: ReadonlyMap<string, Builtin>,
  run: (name: string, options: ServeOptions, told: Told) => Promise<void>,
): void {
  for (const [name, { description, operand, options = [] }] of builtins) {
    const command = serve.command(name).description(description);
    if (operand !== undefined) {
      const { name: what, description: about, many = false } = operand;
      command.argument(many ? `[${what}...]` : `[${what}]`, about);
    }
    for (const option of options) {
      const { flags, description: about, many = false } = option;
      const defined = new Option(flags, about);
      if (many) defined.argParser((value: string, before: string[] = []) => [...before, value]);
      command.addOption(defined);
    }
    command
      .addHelpText(
        "after",
        '\n"patchbay serve --help" shows the options that each server has: HTTP, sessions, logs …',
      )
      .action((...given: unknown[]) => {
        const operands = operand === undefined ? [] : [given[0]].flat().filter((each) => each !== undefined);
        const own = command.opts<Values>();
        const told: Told = {
          operands: operands as string[],
          // Commander keeps values under names of its own: maxRows.
          options: Object.fromEntries(
            options.map((option) => [optionName(option), own[new Option(option.flags).attributeName()]]),
          ),
        };
        return run(name, command.optsWithGlobals<ServeOptions>(), told);
      });
  }
}
