/** Tests that need a program of the machine: where it is missing they are skipped aloud, and in CI they fail. */

import { describe, test } from "vitest";
import { locate, type PROGRAMS, remedy } from "../programs.mjs";

export type Program = keyof typeof PROGRAMS;

/**
 * Stands for `describe` where tests need programs: `needs("redis-server")("sessions in Redis", () => { … })`.
 * Without the programs there is one test instead, whose title says what to install.
 */
export function needs(...programs: Program[]): (title: string, tests: () => void) => void {
  const missing = programs.filter((program) => locate(program) === undefined);
  if (missing.length === 0) return (title, tests) => void describe(title, tests);
  const why = `needs ${missing.join(" and ")}; ${remedy(missing)}`;
  return (title) =>
    void describe(title, () => {
      test.runIf(process.env.CI)(why, () => {
        throw new Error(why);
      });
    });
}

/** The program's file, for tests inside of `needs`. */
export function programFile(program: Program): string {
  return locate(program) ?? program;
}
