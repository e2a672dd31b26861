/** Pages made by hand, each with what is hard in it, and beside each the Markdown that it is read as. */

import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readSource } from "../../src/web/reading/read.ts";

const FOLDER = new URL("corpus/", import.meta.url);
const pages = readdirSync(FOLDER).filter((file) => file.endsWith(".html"));

it.each(pages)("%s", async (file) => {
  const source = {
    bytes: readFileSync(new URL(file, FOLDER)),
    contentType: "text/html",
    url: "https://harbour.example/news/page.html",
  };
  const read = await readSource(source, 2_000_000).catch((error: Error) => ({
    markdown: `(${error.message})`,
  }));
  const { title, description, markdown } = { title: undefined, description: undefined, ...read };
  const lines = [`title: ${title ?? ""}`, `description: ${description ?? ""}`, "", markdown, ""];
  await expect(lines.join("\n")).toMatchFileSnapshot(new URL(file.replace(".html", ".md"), FOLDER).pathname);
});

it("there are enough of them", () => {
  expect(pages.length).toBeGreaterThanOrEqual(30);
});

it("what a page hides is in none of what was read", () => {
  for (const page of ["hidden", "invisible"])
    expect(readFileSync(new URL(`${page}.md`, FOLDER), "utf8")).not.toMatch(
      /IGNORE|[\u200B\u202A-\u202E\u2060]|[\u{E0000}-\u{E007F}]/u,
    );
});
