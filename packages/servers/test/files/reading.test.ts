/** read_file, list_directory and stat. */

import { chmod, mkdir, symlink } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Folder, openFolder } from "./folder.ts";
import { pdfOf } from "./pdf.ts";

let folder: Folder;
beforeAll(async () => {
  folder = await openFolder({
    maxReadBytes: 1000,
    maxFileBytes: 5000,
    maxEntries: 5,
    maxScannedBytes: 100_000,
  });
});
afterAll(() => folder.close());

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

describe("read_file", () => {
  test("gives the text of a file, and what it is", async () => {
    await folder.put("notes.md", "# Notes\n\nÄ, 水, 🙂\n");
    expect(await folder.call("read_file", { path: "notes.md" })).toEqual({
      path: folder.path("notes.md"),
      kind: "text",
      mimeType: "text/markdown",
      bytes: Buffer.byteLength("# Notes\n\nÄ, 水, 🙂\n"),
      text: "# Notes\n\nÄ, 水, 🙂\n",
      startLine: 1,
      endLine: 3,
      totalLines: 3,
    });
    expect(await folder.block("read_file", { path: folder.path("notes.md") })).toEqual({
      type: "text",
      text: "# Notes\n\nÄ, 水, 🙂\n",
    });
  });

  test("gives a range of lines, from the start and from the end", async () => {
    await folder.put("numbers.txt", `${numbered(50)}the last`);
    const read = (range: object) => folder.call("read_file", { path: "numbers.txt", ...range });
    expect(await read({ start_line: 3, end_line: 4 })).toMatchObject({
      text: "line 3\nline 4\n",
      startLine: 3,
      endLine: 4,
    });
    expect(await read({ start_line: 50 })).toMatchObject({
      text: "line 50\nthe last",
      endLine: 51,
      totalLines: 51,
    });
    expect(await read({ start_line: -2 })).toMatchObject({
      text: "line 50\nthe last",
      startLine: 50,
      endLine: 51,
    });
    expect(await read({ start_line: -999, end_line: 1 })).toMatchObject({ text: "line 1\n", startLine: 1 });
    expect(await folder.block("read_file", { path: "numbers.txt", start_line: 60 })).toEqual({
      type: "text",
      text: "[there is no line 60; the file has 51]",
    });
    expect(await folder.failure("read_file", { path: "numbers.txt", start_line: 4, end_line: 3 })).toContain(
      "start_line (4) is behind end_line (3)",
    );
    expect(await folder.failure("read_file", { path: "numbers.txt", start_line: 0 })).toContain(
      "counted from 1",
    );
  });

  test("cuts what is long at a line, and says where to go on, until all has been read", async () => {
    const whole = numbered(500);
    await folder.put("long.txt", whole);
    let text = "";
    for (let start: number | undefined = 1; start !== undefined; ) {
      const read = await folder.call("read_file", { path: "long.txt", start_line: start });
      expect(Buffer.byteLength(read.text)).toBeLessThanOrEqual(1000);
      text += read.text;
      start = read.nextLine;
    }
    expect(text).toBe(whole);
    const { text: shown } = (await folder.block("read_file", { path: "long.txt" })) as { text: string };
    expect(shown).toMatch(/line 123\n\n\[cut: lines 1 to 123; go on with start_line: 124\]$/);
  });

  test("cuts a line that is longer than all that may be read at a whole character", async () => {
    await folder.put("wide.txt", `${"ä".repeat(2000)}\nnext\n`);
    const read = await folder.call("read_file", { path: "wide.txt" });
    expect(read).toMatchObject({ text: "ä".repeat(500), truncated: true, nextLine: 2 });
    expect(await folder.call("read_file", { path: "wide.txt", start_line: 2 })).toMatchObject({
      text: "next\n",
    });
  });

  test("finds lines behind the first pieces that it reads, and no further than it may", async () => {
    await folder.put("deep.txt", `${"x".repeat(90_000)}\nhere\n`);
    expect(await folder.call("read_file", { path: "deep.txt", start_line: 2 })).toMatchObject({
      text: "here\n",
    });
    await folder.put("deeper.txt", `${"x".repeat(200_000)}\nhere\n`);
    expect(await folder.failure("read_file", { path: "deeper.txt", start_line: 2 })).toBe(
      "line 2 is behind more bytes than maxScannedBytes allows (100000)",
    );
    expect(await folder.failure("read_file", { path: "deeper.txt", start_line: -1 })).toContain(
      "maxScannedBytes",
    );
  });

  test("gives an empty file as what it is", async () => {
    await folder.put("empty.txt", "");
    expect(await folder.call("read_file", { path: "empty.txt" })).toMatchObject({
      text: "",
      startLine: 1,
      endLine: 0,
      totalLines: 0,
    });
  });

  test("gives images and sound as they are, by what is in them", async () => {
    await folder.put("picture.dat", PNG);
    expect(await folder.block("read_file", { path: "picture.dat" })).toEqual({
      type: "image",
      mimeType: "image/png",
      data: PNG.toString("base64"),
    });
    await folder.put("sound.wav", Buffer.from("RIFF\x24\0\0\0WAVEfmt ", "latin1"));
    expect(await folder.block("read_file", { path: "sound.wav" })).toMatchObject({
      type: "audio",
      mimeType: "audio/wav",
    });
    await folder.put("huge.png", Buffer.concat([PNG, Buffer.alloc(5000)]));
    expect(await folder.failure("read_file", { path: "huge.png" })).toBe(
      '"huge.png" has more bytes than maxFileBytes allows (5000)',
    );
  });

  test("gives the text of a PDF, page by page", async () => {
    await folder.put("letter.pdf", pdfOf(["First page", "Second page"]));
    const read = await folder.call("read_file", { path: "letter.pdf" });
    expect(read).toMatchObject({ kind: "pdf", mimeType: "application/pdf" });
    expect(read.text).toBe("## Page 1\n\nFirst page\n\n## Page 2\n\nSecond page");
    expect(await folder.call("read_file", { path: "letter.pdf", start_line: -1 })).toMatchObject({
      text: "Second page",
    });
    await folder.put("broken.pdf", "%PDF-1.7\nno more than that");
    expect(await folder.failure("read_file", { path: "broken.pdf" })).toBe("the PDF is broken");
  });

  test("says what it cannot show as text, and replaces no byte silently", async () => {
    await folder.put("data.bin", Buffer.from([1, 0, 2]));
    expect(await folder.failure("read_file", { path: "data.bin" })).toBe(
      '"data.bin" (application/octet-stream, 3 bytes) holds no text, image or PDF; read as a resource, it gives its bytes',
    );
    await folder.put("windows.txt", Buffer.from("\ufeffhello", "utf16le"));
    expect(await folder.failure("read_file", { path: "windows.txt" })).toContain("text in UTF-16");
    await folder.put("latin.txt", Buffer.from("na\xefve", "latin1"));
    expect(await folder.call("read_file", { path: "latin.txt" })).toMatchObject({
      text: "na\ufffdve",
      replaced: true,
    });
  });

  test("says what was meant where a name is not there", async () => {
    await folder.put("Café.txt", "");
    for (const named of ["café.txt", "Café.txt".normalize("NFD")]) {
      expect(await folder.failure("read_file", { path: named })).toBe(
        `"${named}" does not exist; did you mean "Café.txt"?`,
      );
    }
    expect(await folder.failure("read_file", { path: "notes.mdx" })).toContain('did you mean "notes.md"?');
    expect(await folder.failure("read_file", { path: "no/such.txt" })).toBe(
      '"no/such.txt" does not exist, nor does its folder',
    );
    expect(await folder.failure("read_file", { path: "." })).toContain("is a folder; list_directory shows");
    expect(await folder.failure("read_file", { path: "notes.md/x" })).toContain(
      "a part of its path is a file",
    );
  });
});

describe("list_directory", () => {
  test("lists the folders that may be used", async () => {
    expect(await folder.call("list_directory", {})).toEqual({
      path: "",
      entries: [{ path: folder.root, type: "directory" }],
      truncated: false,
    });
  });

  test("lists names, types, sizes and times, sorted", async () => {
    await folder.put("shelf/b.txt", "bb");
    await mkdir(folder.path("shelf/a"));
    await symlink("b.txt", folder.path("shelf/c"));
    const { entries, ...rest } = await folder.call("list_directory", { path: "shelf" });
    expect(rest).toEqual({ path: folder.path("shelf"), truncated: false });
    const modified = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
    expect(entries).toEqual([
      { path: "a", type: "directory", modified },
      { path: "b.txt", type: "file", size: 2, modified },
      { path: "c", type: "link", modified },
    ]);
    expect(await folder.block("list_directory", { path: "shelf" })).toEqual({
      type: "text",
      text: `${folder.path("shelf")}:\na/\nb.txt  2\nc (link)`,
    });
  });

  test("goes down as deep as is wanted, past what git ignores unless it is wanted", async () => {
    await folder.put("tree/.gitignore", "*.log\n");
    await folder.put("tree/x/y/z.txt", "");
    await folder.put("tree/x/noise.log", "");
    const paths = async (args: object) =>
      (await folder.call("list_directory", { path: "tree", ...args })).entries.map(
        (entry: { path: string }) => entry.path,
      );
    expect(await paths({ depth: 2 })).toEqual([".gitignore", "x", "x/y"]);
    expect(await paths({ depth: 3 })).toEqual([".gitignore", "x", "x/y", "x/y/z.txt"]);
    expect(await paths({ depth: 2, include_ignored: true })).toEqual([
      ".gitignore",
      "x",
      "x/noise.log",
      "x/y",
    ]);
  });

  test("lists no more than it may, and says so", async () => {
    for (const name of ["1", "2", "3", "4", "5", "6"]) await folder.put(`many/${name}`, "");
    const { entries, truncated } = await folder.call("list_directory", { path: "many" });
    expect([entries.length, truncated]).toEqual([5, true]);
    expect(((await folder.block("list_directory", { path: "many" })) as { text: string }).text).toContain(
      "[cut: maxEntries is 5;",
    );
  });

  test("shows a name with a line break on one line", async () => {
    await folder.put("odd/two\nlines", "");
    expect(((await folder.block("list_directory", { path: "odd" })) as { text: string }).text).toContain(
      '"two\\nlines"',
    );
    expect(await folder.failure("list_directory", { path: "notes.md" })).toContain("is no folder");
  });
});

describe("stat", () => {
  test("tells what a path is", async () => {
    await chmod(await folder.put("facts.json", "{}"), 0o644);
    await symlink("facts.json", folder.path("alias"));
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    const file = {
      path: folder.path("facts.json"),
      uri: `file://${folder.path("facts.json")}`,
      type: "file",
      link: false,
      size: 2,
      modified: time,
      created: time,
      mode: "0644",
      links: 1,
      mimeType: "application/json",
    };
    expect(await folder.call("stat", { path: "facts.json" })).toEqual(file);
    expect(await folder.call("stat", { path: "alias" })).toEqual({ ...file, link: true });
    expect(await folder.call("stat", { path: folder.root })).toMatchObject({
      type: "directory",
      mimeType: "inode/directory",
    });
    expect(await folder.call("stat", { path: `file://${folder.path("facts.json")}` })).toEqual(file);
  });
});
