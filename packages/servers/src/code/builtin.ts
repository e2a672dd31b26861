/** The code server as `serve` has it: its options, and how it is loaded. */

import { type Builtin, type BuiltinOption, Settings } from "../builtin.ts";
import { numbersOf, SANDBOX_OPTIONS, sandboxOptions } from "../sandbox/settings.ts";

const CODE_OPTIONS: readonly BuiltinOption[] = [
  { flags: "--max-sessions <n>", description: "interpreters that are kept at once (4)" },
  { flags: "--max-sessions-per-principal <n>", description: "of one user, where users are told apart (2)" },
  { flags: "--session-idle <ms>", description: "after which an unused session ends (600000)" },
  { flags: "--max-input-bytes <n>", description: "of code, of stdin, and of the files of a call (1048576)" },
  { flags: "--max-made-bytes <n>", description: "of the files that a call makes (16777216)" },
  { flags: "--max-made-files <n>", description: "that a call makes; more are left out (256)" },
  { flags: "--max-kept-bytes <n>", description: "of all files that are kept to be read (67108864)" },
  { flags: "--keep-for <ms>", description: "that files are kept to be read (3600000)" },
];

export const code: Builtin = {
  description: "Programs of Python and Node, each in a sandbox",
  options: [...CODE_OPTIONS, ...SANDBOX_OPTIONS],
  async load(given) {
    const settings = new Settings(given);
    const { createCode } = await import("./index.ts");
    return createCode({ ...sandboxOptions(settings), ...numbersOf(settings, CODE_OPTIONS) });
  },
};
