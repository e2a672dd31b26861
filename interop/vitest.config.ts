/** The project "interop" of the tests: those against peers, once the peers are installed. */

import { existsSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

const { dependencies } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
const installed = Object.keys(dependencies).every((name) =>
  existsSync(new URL(`node_modules/${name}/package.json`, import.meta.url)),
);

export default defineConfig({
  test: {
    name: "interop",
    include: installed ? ["test/**/*.test.ts"] : ["absent.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
