import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "examples/**/*.test.ts", "docs/**/*.test.ts"],
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
