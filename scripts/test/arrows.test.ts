/** The check of the imports finds each kind of violation, in a small house made for it. */

import { beforeEach, expect, test } from "vitest";
import { checkArrows } from "../checks/arrows.mjs";

let sources: Map<string, string>;

beforeEach(() => {
  sources = new Map();
  const entry = { ".": "./dist/index.js" };
  add("packages/core/package.json", JSON.stringify({ name: "@patchbay/core", exports: entry }));
  add("packages/core/src/index.ts", "export const revision = 1;");
  add("packages/client/package.json", JSON.stringify({ name: "@patchbay/client", exports: entry }));
  add("packages/client/src/index.ts", 'export { revision } from "@patchbay/core";');
  const stdio = { ...entry, "./stdio": "./dist/stdio.js" };
  add("packages/server/package.json", JSON.stringify({ name: "@patchbay/server", exports: stdio }));
  add("packages/server/src/index.ts", 'export * from "./stdio.ts";');
  add(
    "packages/server/src/stdio.ts",
    'import type * as all from "./index.ts"; export type All = typeof all;',
  );
});

function add(file: string, text: string): void {
  sources.set(file, text);
}

test("a house in order has no violation", () => {
  add("packages/client/test/peer.test.ts", 'import "@patchbay/server/stdio"; import "../src/index.ts";');
  expect(checkArrows(sources)).toEqual([]);
});

test.each([
  ["an arrow that goes up", "packages/core/src/up.ts", 'import { connect } from "@patchbay/client";'],
  [
    "a server that knows the client",
    "packages/server/src/a.ts",
    'import type { Client } from "@patchbay/client";',
  ],
  ["a client that knows the server", "packages/client/src/a.ts", 'await import("@patchbay/server");'],
  ["a re-export", "packages/client/src/a.ts", 'export * from "@patchbay/server/stdio";'],
  ["the inside of a package", "packages/client/src/a.ts", 'import "@patchbay/core/src/index.ts";'],
  ["a path across packages", "packages/client/src/a.ts", 'import "../../core/src/index.ts";'],
  ["a test's path across packages", "packages/client/test/a.test.ts", 'import "../../core/src/index.ts";'],
  ["a document's path into a package", "docs/test/a.ts", 'import "../../packages/core/src/index.ts";'],
  ["a source that needs a test", "packages/client/src/a.ts", 'import "../test/fixture.ts";'],
  ["Node in core", "packages/core/src/a.ts", 'import { readFileSync } from "node:fs";'],
  ["Node in core, by its old name", "packages/core/src/a.ts", 'import { readFileSync } from "fs";'],
])("finds %s", (_, file, text) => {
  add(file, `/** What it is. */\n\n${text}`);
  const problems = checkArrows(sources);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(`${file}:3: `);
});

test("finds a cycle of imports that run, and tells its way", () => {
  add("packages/core/src/a.ts", 'import "./b.ts";');
  add("packages/core/src/b.ts", 'export { c } from "./c.ts";');
  add("packages/core/src/c.ts", 'import "./a.ts"; export const c = 1;');
  const problems = checkArrows(sources);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(
    "packages/core/src/a.ts:1: imports itself by way of packages/core/src/b.ts → packages/core/src/c.ts → packages/core/src/a.ts",
  );
});

test("finds a dependency that goes up, and a package without a layer", () => {
  const manifest = { name: "@patchbay/servers", exports: {}, dependencies: { "@patchbay/client": "0.1.0" } };
  add("packages/servers/package.json", JSON.stringify(manifest));
  add("packages/attic/package.json", JSON.stringify({ name: "@patchbay/attic" }));
  const problems = checkArrows(sources);
  expect(problems).toEqual([
    expect.stringContaining("depends on @patchbay/client"),
    expect.stringContaining("packages/attic/package.json:1: no layer"),
  ]);
});
