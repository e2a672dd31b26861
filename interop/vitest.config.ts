/** The peer tests: `npm ci --prefix interop`, then `npx vitest run --root interop`. */

import { existsSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

const { dependencies } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
const missing = Object.keys(dependencies).filter(
  (name) => !existsSync(new URL(`node_modules/${name}/package.json`, import.meta.url)),
);
const absent = missing.length > 0;
if (absent) {
  const what = `interop: the peers ${missing.join(", ")} are not installed. Run: npm ci --prefix interop`;
  if (process.env.CI === "true") throw new Error(what);
  console.warn(`SKIPPED ${what}`);
}

export default defineConfig({
  test: {
    include: absent ? [] : ["test/**/*.test.ts"],
    passWithNoTests: absent,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
