/** The tests: those of the packages, the scripts and the documents; and apart from them, those against peers. */

import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** What is built runs as users get it; only what a test imports from src is transformed. */
const server = { deps: { external: [/\/packages\/[^/]+\/dist\//] } };
/** Only what hangs gets there, on a machine that does much else too. */
const limits = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    globalSetup: "scripts/test/built.mjs",
    // Many tests wait for processes: one more than there are cores keeps these busy.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        test: {
          name: "packages",
          include: [
            "packages/*/test/**/*.test.ts",
            "scripts/test/**/*.test.ts",
            "conformance/test/**/*.test.ts",
            "examples/**/*.test.ts",
            "docs/**/*.test.ts",
            "deploy/test/**/*.test.ts",
            "soak/test/**/*.test.ts",
          ],
          server,
          ...limits,
        },
      },
      "interop",
    ],
  },
});
