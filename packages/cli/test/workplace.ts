/** A folder for each test, and the processes that it starts there; both are gone after it. */

import { rmSync } from "node:fs";
import { afterAll, afterEach, beforeEach } from "vitest";
import { emptyFolder, type Run } from "./patchbay.ts";

export interface Workplace {
  /** The folder of the test that is running. */
  readonly cwd: string;
  /** What it started, and is to end with it. */
  readonly runs: Run[];
}

export function workplace(): Workplace {
  let cwd = "";
  const folders: string[] = [];
  const runs: Run[] = [];
  beforeEach(() => {
    cwd = emptyFolder();
    folders.push(cwd);
  });
  afterEach(async () => {
    for (const { child } of runs) child.kill("SIGKILL");
    await Promise.all(runs.splice(0).map(({ ended }) => ended));
  });
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });
  return {
    get cwd() {
      return cwd;
    },
    runs,
  };
}
