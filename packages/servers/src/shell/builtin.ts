/** The shell server as `serve` has it: its options, and how it is loaded. */

import { type Builtin, type BuiltinOption, Settings } from "../builtin.ts";
import { numbersOf, SANDBOX_OPTIONS, sandboxOptions } from "../sandbox/settings.ts";

const FOLDER_OPTIONS: readonly BuiltinOption[] = [
  { flags: "--max-folders <n>", description: "working folders at once (100)" },
  { flags: "--folder-ttl <ms>", description: "that a working folder is kept unused (604800000)" },
];

export const shell: Builtin = {
  description: "Commands of bash, each in a sandbox",
  options: [
    {
      flags: "--folders <folder>",
      description: "keep working folders in this folder, for those who ask for one",
    },
    ...FOLDER_OPTIONS,
    ...SANDBOX_OPTIONS,
  ],
  async load(given) {
    const settings = new Settings(given);
    const folders = settings.text("folders");
    const { createShell } = await import("./index.ts");
    return createShell({
      ...sandboxOptions(settings),
      ...numbersOf(settings, FOLDER_OPTIONS),
      ...(folders !== undefined && { folders }),
    });
  },
};
