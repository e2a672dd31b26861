/** search_files, and the patterns that it and `.gitignore` have. */

import { symlink } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { alternatives, matchesGlob, parseGlob } from "../../src/files/glob.ts";
import { IgnoreRules } from "../../src/files/ignoring.ts";
import { type Folder, openFolder } from "./folder.ts";

let folder: Folder;
beforeAll(async () => {
  folder = await openFolder({ maxMatches: 50, maxScanned: 60, maxFileBytes: 10_000, patternTimeout: 100 });
  await folder.put("src/index.ts", "export const answer = 42;\nconst Answer = 'x';\r\nanswer answer\n");
  await folder.put("src/deep/view.tsx", "// no answer here\n");
  await folder.put("README.md", "The answer is 42.\n");
  await folder.put(".gitignore", "node_modules/\n*.log\n!keep.log\n");
  await folder.put("node_modules/answer/index.ts", "answer\n");
  await folder.put("noise.log", "answer\n");
  await folder.put("keep.log", "answer\n");
  await folder.put("src/.gitignore", "/deep/generated.*\n");
  await folder.put("src/deep/generated.ts", "answer\n");
  await folder.put("data.bin", Buffer.from("answer\0answer"));
  await folder.put("large.txt", "answer\n".repeat(2000));
});
afterAll(() => folder.close());

const search = (args: object) => folder.call("search_files", args);
const paths = async (args: object) =>
  (await search(args)).matches.map((match: { path: string }) => match.path).sort();

describe("search_files", () => {
  test("finds names, in any folder or from the one that is searched", async () => {
    expect(await paths({ name: "*.ts" })).toEqual(["src/index.ts"]);
    expect(await paths({ name: "src/**/*.{ts,tsx}" })).toEqual(["src/deep/view.tsx", "src/index.ts"]);
    expect(await paths({ name: "*.ts", path: "src" })).toEqual(["index.ts"]);
    expect(await paths({ name: "deep" })).toEqual(["src/deep"]);
    expect(await paths({ name: "*.ts", include_ignored: true })).toEqual([
      "node_modules/answer/index.ts",
      "src/deep/generated.ts",
      "src/index.ts",
    ]);
    expect(await search({ name: "nothing*" })).toMatchObject({ matches: [], truncated: false });
  });

  test("finds text, and says in which line and where", async () => {
    const { matches, skipped } = await search({ text: "answer" });
    expect(matches.sort((a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: "README.md", line: 1, column: 5, text: "The answer is 42." },
      { path: "keep.log", line: 1, column: 1, text: "answer" },
      { path: "src/deep/view.tsx", line: 1, column: 7, text: "// no answer here" },
      { path: "src/index.ts", line: 1, column: 14, text: "export const answer = 42;" },
      { path: "src/index.ts", line: 3, column: 1, text: "answer answer" },
    ]);
    expect(skipped).toBe(2);
    expect(await paths({ text: "42.", name: "*.md" })).toEqual(["README.md"]);
    expect((await search({ text: "ANSWER", name: "*.ts", case_sensitive: false })).matches).toHaveLength(3);
    expect(await folder.block("search_files", { text: "Answer", path: "src" })).toEqual({
      type: "text",
      text: "index.ts:2: const Answer = 'x';\n[1 found among 4 entries]",
    });
  });

  test("takes regular expressions, and stops one that would never end", async () => {
    expect((await search({ text: "^const \\w+", regex: true, name: "*.ts" })).matches).toEqual([
      { path: "src/index.ts", line: 2, column: 1, text: "const Answer = 'x';" },
    ]);
    expect((await search({ text: "$", regex: true, name: "README.md" })).matches).toHaveLength(2);
    expect(await folder.failure("search_files", { text: "(", regex: true })).toContain("is not valid");
    await folder.put("trap/a.txt", `${"a".repeat(40)}b`);
    expect(await folder.failure("search_files", { path: "trap", text: "^(a|a)*$", regex: true })).toBe(
      "the regular expression takes longer than patternTimeout allows (100) ms; write one without repetitions in repetitions, or search for plain text",
    );
  });

  test("gives as many as are wanted, goes through as many as it may, and follows no link", async () => {
    expect(await search({ text: "answer", max_results: 2 })).toMatchObject({ truncated: true });
    expect(await folder.failure("search_files", { name: "*", max_results: 51 })).toContain("max_results");
    expect(await folder.failure("search_files", {})).toContain("give a name, a text, or both");
    await symlink(folder.outside, folder.path("out"));
    await symlink("..", folder.path("src/loop"));
    expect(await paths({ text: "SECRET" })).toEqual([]);
    expect(await paths({ name: "secret*" })).toEqual([]);
    for (let index = 0; index < 60; index++) await folder.put(`crowd/${index}`, "");
    expect(await folder.failure("search_files", { name: "none" })).toBe(
      "there are more entries than maxScanned allows (60); search a folder in it, or for fewer names",
    );
  });

  test("shows the part of a long line that the match is in", async () => {
    await folder.put("long/line.txt", `${"x".repeat(1000)}needle${"y".repeat(1000)}\n`);
    const [match] = (await search({ path: "long", text: "needle" })).matches;
    expect(match.column).toBe(1001);
    expect(match.text).toMatch(/^…x+needley+…$/);
    expect(match.text.length).toBeLessThanOrEqual(302);
  });
});

describe("a search that takes long", () => {
  test("says how far it is, and ends when it is no longer wanted", async () => {
    const crowd = await openFolder();
    for (let index = 0; index < 1100; index++) await crowd.put(`${index}.txt`, "text");
    const told: string[] = [];
    const abort = new AbortController();
    const onProgress = ({ message = "" }: { message?: string }) => {
      told.push(message);
      abort.abort();
    };
    const call = crowd.client.callTool(
      "search_files",
      { text: "none" },
      { onProgress, signal: abort.signal },
    );
    await expect(call).rejects.toThrow();
    expect(told).toEqual(["1000 looked at, 0 found"]);
    await crowd.close();
  });
});

describe("patterns", () => {
  const matches = (pattern: string, path: string) => matchesGlob(parseGlob(pattern), path.split("/"));

  test.each([
    ["*.ts", "a.ts", true],
    ["*.ts", "a/b.ts", false],
    ["**/*.ts", "a.ts", true],
    ["**/*.ts", "a/b/c.ts", true],
    ["a/**/z", "a/z", true],
    ["a/**/z", "a/b/c/z", true],
    ["a/**/z", "b/z", false],
    ["a?c", "abc", true],
    ["a?c", "a🙂c", true],
    ["[a-c]x", "bx", true],
    ["[!a-c]x", "bx", false],
    ["[]]", "]", true],
    ["[a", "[a", true],
    ["\\*", "*", true],
    ["\\*", "x", false],
    ["*a*b*c*", "xxaxxbxxcxx", true],
    ["*a*b*c*", "xxaxxcxxbxx", false],
  ])("%s and %s", (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  test("take time in proportion, however they are made", () => {
    expect(matches(`${"*a".repeat(400)}b`, "a".repeat(255))).toBe(false);
    expect(matches("**/".repeat(300).concat("x"), Array(300).fill("a").join("/"))).toBe(false);
    expect(() => parseGlob("x".repeat(1001))).toThrow("at most 1000 characters");
  });

  test("stand for alternatives", () => {
    expect(alternatives("{a,b}.{c,d}")).toEqual(["a.c", "a.d", "b.c", "b.d"]);
    expect(alternatives("a{b}c")).toEqual(["a{b}c"]);
    expect(() => alternatives("{a,b}".repeat(10))).toThrow("at most 64 alternatives");
  });
});

describe("ignore rules", () => {
  const rules = IgnoreRules.outermost(
    "# a comment\n*.log\n!keep.log\n/build\ndocs/*.html\ncache/\n\\#odd\nspace\\ \n",
  );
  test.each([
    ["a.log", false, true],
    ["keep.log", false, false],
    ["build", true, true],
    ["cache", true, true],
    ["cache", false, false],
    ["#odd", false, true],
    ["# a comment", false, false],
    [".git", true, true],
    ["a.txt", false, false],
  ])("%s (folder: %s)", (name, isFolder, expected) => {
    expect(rules.ignores(name, isFolder)).toBe(expected);
  });

  test("hold in the folders within, and give way to those of a folder within", () => {
    const docs = rules.inFolder("docs", "!b.log\n");
    expect(docs.ignores("a.html", false)).toBe(true);
    expect(docs.ignores("a.log", false)).toBe(true);
    expect(docs.ignores("b.log", false)).toBe(false);
    expect(docs.ignores("build", true)).toBe(false);
    expect(docs.inFolder("in", "").ignores("a.html", false)).toBe(false);
  });
});
