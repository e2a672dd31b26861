/** The tests: those of the packages, the scripts and the documents; and apart from them, those against peers. */

import { defineConfig } from "vitest/config";

const limits = { testTimeout: 20_000, hookTimeout: 20_000 };

export default defineConfig({
  test: {
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
          ],
          ...limits,
        },
      },
      "interop",
    ],
  },
});
