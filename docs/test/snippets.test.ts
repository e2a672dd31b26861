/** The check of the documents sees what is right and what is wrong in one. */

import { join } from "node:path";
import { expect, test } from "vitest";
import { readBlocks } from "./markdown.ts";
import { matches } from "./output.ts";
import { execute, prepare, ROOT } from "./snippets.ts";

const FENCE = "```";
const folderOf = (name: string) => join(ROOT, "docs", "dist", `sample-${name}`);

/** Prepares a document and runs what it asks to run; gives what went wrong. */
async function check(name: string, ...lines: string[]): Promise<string[]> {
  const document = `${name}.md`;
  const { problems, runs } = prepare(document, lines.join("\n"), folderOf(name));
  for (const run of runs) {
    await execute(document, folderOf(name), run).catch((thrown) => problems.push(thrown.message));
  }
  return problems;
}

test("a right document: files, a block that continues, output with wildcards", async () => {
  const problems = await check(
    "right",
    "# A sample",
    `${FENCE}ts file=revisions.ts`,
    'import { REVISIONS } from "@patchbay/core";',
    "export const newest: string = REVISIONS[0];",
    FENCE,
    "Then:",
    `${FENCE}ts`,
    'import { newest } from "./revisions.ts";',
    FENCE,
    `${FENCE}ts continues run`,
    "console.log(newest);",
    'console.error("one\\ntwo\\nthree");',
    FENCE,
    `${FENCE}text output`,
    "20…-…-28",
    "…",
    "three",
    FENCE,
    `${FENCE}sh run in=files`,
    "ls revisions.js",
    FENCE,
    `${FENCE}text output`,
    "revisions.js",
    FENCE,
    `${FENCE}sh run`,
    "node -p 'require(\"./package.json\").name'",
    FENCE,
    `${FENCE}text output`,
    "patchbay-workspace",
    FENCE,
    `${FENCE}json`,
    '{ "mcpServers": {} }',
    FENCE,
  );
  expect(problems).toEqual([]);
});

test.each([
  ["type", ["ts", "const revision: number = 'x';"], "type.md:2: error TS2322"],
  ["import", ["ts", 'import { nothing } from "@patchbay/core";'], "import.md:2: error TS2305"],
  ["package", ["ts", 'import "@patchbay/none";'], "package.md:2: error TS"],
  ["json", ["json", "{ trailing: 1 }"], "json.md:2: "],
  ["shell", ["sh", "if true; then"], "shell.md:2: "],
  ["prompt", ["sh", "$ npm start"], "prompt.md:2: write commands without"],
  ["thrown", ["ts run", "throw new Error('broken');"], "thrown.md:2: ended with 1"],
  ["exit", ["sh run", "exit 3"], "exit.md:2: ended with 3"],
])("finds what is wrong: %s", async (name, [info, line], expected) => {
  const problems = await check(name, `${FENCE}${info}`, line as string, FENCE);
  expect(problems.join("\n")).toContain(expected);
});

test("finds output that differs", async () => {
  const output = [`${FENCE}text output`, "2", FENCE];
  const problems = await check("differs", `${FENCE}sh run`, "echo 1", FENCE, ...output);
  expect(problems).toEqual([
    expect.stringContaining("differs.md:2: printed\n1\n\nbut the document shows\n2"),
  ]);
});

test.each([
  [
    "a mark that is not known",
    "ts runs",
    'sample.md:1: unknown mark "runs"; ts takes run, continues, needs=',
  ],
  ["a mark of another language", "json run", 'unknown mark "run"; json takes file='],
  ["a language that is not known", "tsx", 'unknown language "tsx"'],
  ["output of nothing", "text output", '"output" follows a block that is marked "run"'],
  ["what continues nothing", "ts continues", '"continues" follows a ts block'],
])("refuses %s", (_, info, message) => {
  expect(() => readBlocks("sample.md", `${FENCE}${info}\n${FENCE}`)).toThrow(message);
});

test("refuses a block that is never closed", () => {
  expect(() => readBlocks("sample.md", `text\n${FENCE}ts\nlet a;`)).toThrow("sample.md:2: ");
});

test.each([
  ["a", "a\n", true],
  ["a…c", "abc", true],
  ["a…c", "a\nc", false],
  ["…\nz", "z", true],
  ["a\n…\nz", "a\nb\nc\nz", true],
  ["a", "a\nb", false],
  ["1.5", "1x5", false],
])("compares %j with %j", (shown, printed, same) => {
  expect(matches(shown, printed)).toBe(same);
});
