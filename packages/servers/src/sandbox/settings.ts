/** The sandbox's options on a command line, and how they are read. */

import type { BuiltinOption, Settings } from "../builtin.ts";
import type { SandboxOptions } from "./limits.ts";

export const SANDBOX_OPTIONS: readonly BuiltinOption[] = [
  { flags: "--timeout <seconds>", description: "that a command may take where its call does not say (30)" },
  { flags: "--max-timeout <seconds>", description: "that a call may ask for (300)" },
  { flags: "--max-output-bytes <n>", description: "of stdout and of stderr that are kept (65536)" },
  { flags: "--max-memory-bytes <n>", description: "of a command's processes together (536870912)" },
  { flags: "--max-processes <n>", description: "of a command at once, threads counted (64)" },
  { flags: "--max-file-bytes <n>", description: "of one file (33554432)" },
  { flags: "--max-folder-bytes <n>", description: "of a command's working folder (67108864)" },
  { flags: "--max-running <n>", description: "commands at once (8)" },
  { flags: "--user <uid>", description: "who runs commands where the server is root (65534)" },
  { flags: "--unsafe-no-sandbox", description: "run commands as the server itself, with all that it may do" },
];

/**
 * What was given of these options: `--max-running 2` → `{ maxRunning: 2 }`.
 *
 * @throws SettingsError for a value that is no positive whole number
 */
export function numbersOf(settings: Settings, options: readonly BuiltinOption[]): Record<string, number> {
  const numbers: Record<string, number> = {};
  for (const { flags } of options) {
    const [, name] = /^--([a-z-]+) </.exec(flags) ?? [];
    const value = name === undefined ? undefined : settings.count(name);
    if (name !== undefined && value !== undefined)
      numbers[name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())] = value;
  }
  return numbers;
}

export function sandboxOptions(settings: Settings): SandboxOptions {
  return {
    ...numbersOf(settings, SANDBOX_OPTIONS),
    unsafeNoSandbox: settings.has("unsafe-no-sandbox"),
    warn: settings.warn,
  };
}
