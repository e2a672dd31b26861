/** Stands for all tests while the peers are not installed: it is skipped aloud, and fails in CI. */

import { test } from "vitest";

const what = "the peers are not installed; run: npm ci --prefix interop";

if (!process.env.CI) console.warn(`SKIPPED: ${what}`);

test.runIf(process.env.CI)(what, () => {
  throw new Error(what);
});
