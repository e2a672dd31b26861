/** Every block of every document compiles, and does what the document says. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { locate } from "../../scripts/programs.mjs";
import { execute, listDocuments, prepare, ROOT } from "./snippets.ts";

describe.each(listDocuments().filter((file) => existsSync(join(ROOT, file))))("%s", (document) => {
  const folder = join(ROOT, "docs", "dist", document.replaceAll("/", "-").replace(/\.md$/, ""));
  const { problems, runs } = prepare(document, readFileSync(join(ROOT, document), "utf8"), folder);

  test("holds no block that does not compile", () => {
    expect(problems).toEqual([]);
  });

  for (const run of runs) {
    // In CI what is missing is a failure.
    const missing = run.block.needs.filter((program) => locate(program) === undefined);
    const title = `does what line ${run.line} says${missing.length > 0 ? `, with ${missing.join(", ")}` : ""}`;
    test.skipIf(missing.length > 0 && !process.env.CI)(title, { timeout: 70_000 }, () =>
      execute(document, folder, run),
    );
  }
});
