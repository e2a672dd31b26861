/** Server processes for tests: how to start the fixtures, and how to see that nothing of them is left. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { StdioTarget } from "../src/index.ts";

/** The target of a fixture. */
export function fixture(name: string, ...args: string[]): StdioTarget {
  return { command: process.execPath, args: [fixturePath(name), ...args] };
}

export function fixturePath(name: string): string {
  return fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
}

/** True while a process runs; one that has ended but was not collected by its parent does not. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    // No such file: the process has just ended, or this is not Linux, where the signal alone must do.
    return process.platform !== "linux";
  }
}

/** The command lines of a process's children (Linux). */
export function commandsBelow(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .filter((child) => child !== "")
    .map((child) => readFileSync(`/proc/${child}/cmdline`, "utf8"));
}
