/** write_file, create_directory, edit_file, move and delete. */

import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFiles } from "../../src/files/index.ts";
import { type Folder, openFolder } from "./folder.ts";

let folder: Folder;
beforeAll(async () => {
  folder = await openFolder({ allowDelete: true, maxWriteBytes: 1000, maxReadBytes: 500 });
});
afterAll(() => folder.close());

const contents = (path: string) => readFile(folder.path(path), "utf8");
const edit = (path: string, old_text: string, new_text: string, more = {}) => ({
  path,
  edits: [{ old_text, new_text, ...more }],
});

describe("write_file", () => {
  test("makes a file, and the folders on the way to it", async () => {
    expect(await folder.call("write_file", { path: "new/deep/a.txt", content: "Ä\n" })).toEqual({
      path: folder.path("new/deep/a.txt"),
      created: true,
      bytes: 3,
    });
    expect(await contents("new/deep/a.txt")).toBe("Ä\n");
    expect(await readdir(folder.path("new/deep"))).toEqual(["a.txt"]);
  });

  test("replaces what is there, and keeps its permissions", async () => {
    const file = await folder.put("script.sh", "old");
    await chmod(file, 0o750);
    expect(await folder.call("write_file", { path: "script.sh", content: "new" })).toMatchObject({
      created: false,
    });
    expect([await contents("script.sh"), (await stat(file)).mode & 0o777]).toEqual(["new", 0o750]);
  });

  test("replaces nothing where that is not wanted", async () => {
    await folder.put("kept.txt", "kept");
    expect(await folder.failure("write_file", { path: "kept.txt", content: "", overwrite: false })).toBe(
      '"kept.txt" is there already; overwrite: true replaces it',
    );
    expect(await contents("kept.txt")).toBe("kept");
  });

  test("writes where a link leads, and the link stays", async () => {
    await folder.put("real.txt", "old");
    await symlink("real.txt", folder.path("link.txt"));
    await folder.call("write_file", { path: "link.txt", content: "new" });
    expect([await contents("real.txt"), await readlink(folder.path("link.txt"))]).toEqual([
      "new",
      "real.txt",
    ]);
    await symlink("nowhere.txt", folder.path("dangling.txt"));
    expect(await folder.failure("write_file", { path: "dangling.txt", content: "" })).toContain(
      "leads nowhere",
    );
  });

  test("refuses what is too large, what is no file, and a folder's place", async () => {
    expect(await folder.failure("write_file", { path: "large.txt", content: "x".repeat(1001) })).toBe(
      "the content has more bytes than maxWriteBytes allows (1000)",
    );
    await mkdir(folder.path("box"));
    expect(await folder.failure("write_file", { path: "box", content: "" })).toContain("is a folder");
    expect(await folder.failure("write_file", { path: folder.root, content: "" })).toContain(
      "stays as it is",
    );
    expect(existsSync(folder.path("large.txt"))).toBe(false);
  });

  test("makes folders, and is content with those that are there", async () => {
    expect(await folder.call("create_directory", { path: "x/y/z" })).toEqual({ path: folder.path("x/y/z") });
    expect(await folder.call("create_directory", { path: "x/y" })).toEqual({ path: folder.path("x/y") });
    await folder.put("file.txt", "");
    expect(await folder.failure("create_directory", { path: "file.txt" })).toContain("is no folder");
    expect(await folder.failure("create_directory", { path: "file.txt/x" })).toContain("is no folder");
  });
});

describe("edit_file", () => {
  test("replaces what occurs once, and shows the difference", async () => {
    await folder.put("code.ts", "const a = 1;\nconst b = $1;\nconst c = 3;\n");
    const result = await folder.call("edit_file", edit("code.ts", "b = $1", "b = $&"));
    expect(result).toEqual({
      path: folder.path("code.ts"),
      changed: true,
      diff: [
        "--- a/code.ts",
        "+++ b/code.ts",
        "@@ -1,3 +1,3 @@",
        " const a = 1;",
        "-const b = $1;",
        "+const b = $&;",
        " const c = 3;",
        "",
      ].join("\n"),
    });
    expect(await contents("code.ts")).toBe("const a = 1;\nconst b = $&;\nconst c = 3;\n");
  });

  test("only shows it, where that is wanted", async () => {
    await folder.put("dry.txt", "one\n");
    const result = await folder.call("edit_file", { ...edit("dry.txt", "one", "two"), dry_run: true });
    expect(result).toMatchObject({ changed: false, diff: expect.stringContaining("-one\n+two\n") });
    expect(await contents("dry.txt")).toBe("one\n");
  });

  test("makes several edits one after another, or none", async () => {
    await folder.put("steps.txt", "one\ntwo\nthree\n");
    const edits = [
      { old_text: "one", new_text: "two" },
      { old_text: "two", new_text: "2", replace_all: true },
    ];
    await folder.call("edit_file", { path: "steps.txt", edits });
    expect(await contents("steps.txt")).toBe("2\n2\nthree\n");
    const bad = [...edits.slice(1), { old_text: "four", new_text: "4" }];
    const failing = { path: "steps.txt", edits: [{ old_text: "three", new_text: "3" }, ...bad] };
    expect(await folder.failure("edit_file", failing)).toMatch(/^old_text of edit 2 was not found/);
    expect(await contents("steps.txt")).toBe("2\n2\nthree\n");
  });

  test("says what to do where an edit fits nowhere, or in too many places", async () => {
    await folder.put("hints.txt", "if (x) {\n    a();\n    b();\n}\na();\n");
    const failure = (old_text: string) => folder.failure("edit_file", edit("hints.txt", old_text, ""));
    expect(await failure("a();")).toBe(
      "old_text occurs 2 times, at lines 2, 5; take in more of the lines around the one that is meant, or set replace_all",
    );
    expect(await failure("\ta();\n\tb();")).toBe(
      'old_text was not found; line 2 differs in white space alone: "    a();"',
    );
    expect(await failure("if (x) {\n  c();")).toContain(
      "line 1 is like its line 1, but what follows differs",
    );
    expect(await failure("nothing like it")).toContain("read the file again, and copy it exactly");
  });

  test("keeps the ends of lines and the byte order mark of a file", async () => {
    await folder.put("windows.txt", "\ufeffone\r\ntwo\r\n");
    await folder.call("edit_file", edit("windows.txt", "one\ntwo", "1\n2"));
    expect(await contents("windows.txt")).toBe("\ufeff1\r\n2\r\n");
    await folder.put("mixed.txt", "one\r\ntwo\n");
    await folder.call("edit_file", edit("mixed.txt", "two\n", "2\n"));
    expect(await contents("mixed.txt")).toBe("one\r\n2\n");
  });

  test("touches no file that it could not write back as it was", async () => {
    await folder.put("latin.txt", Buffer.from("na\xefve one", "latin1"));
    expect(await folder.failure("edit_file", edit("latin.txt", "one", "two"))).toContain("is no UTF-8 text");
    expect(await folder.failure("edit_file", edit("missing.txt", "one", "two"))).toContain("does not exist");
  });

  test("edits that come at once all count", async () => {
    await folder.put("list.txt", "items:\n");
    const names = Array.from({ length: 20 }, (_, index) => `item ${index}`);
    await Promise.all(
      names.map((name) => folder.call("edit_file", edit("list.txt", "items:\n", `items:\n${name}\n`))),
    );
    expect((await contents("list.txt")).split("\n").slice(1, -1).sort()).toEqual(names.sort());
  });

  test("takes time in proportion, whatever it is given", async () => {
    const large = await openFolder();
    await large.put("a.txt", "a".repeat(2_000_000));
    await large.put("lines.txt", "\n".repeat(2_000_000));
    const long = "a".repeat(50_000);
    expect(await large.failure("edit_file", edit("a.txt", long, ""))).toContain("occurs 40 times");
    const grown = edit("a.txt", "a", long, { replace_all: true });
    expect(await large.failure("edit_file", grown)).toContain("maxWriteBytes");
    const unlike = edit("lines.txt", `${"\n".repeat(50_000)}x`, "");
    expect(await large.failure("edit_file", unlike)).toContain("was not found");
    await large.close();
  });

  test("cuts a long difference, and bounds what comes of an edit", async () => {
    await folder.put("a.txt", "x\n".repeat(400));
    const all = edit("a.txt", "x", "y", { replace_all: true });
    expect(await folder.call("edit_file", all)).toMatchObject({ changed: true, truncated: true });
    const grown = edit("a.txt", "y", "y".repeat(10), { replace_all: true });
    expect(await folder.failure("edit_file", grown)).toContain("maxWriteBytes");
    expect(await contents("a.txt")).toBe("y\n".repeat(400));
    expect(await folder.call("edit_file", edit("a.txt", "y", "y", { replace_all: true }))).toMatchObject({
      changed: false,
      diff: "",
    });
  });
});

describe("move", () => {
  test("moves files, folders and links", async () => {
    await folder.put("m/one.txt", "1");
    await symlink("one.txt", folder.path("m/link"));
    expect(await folder.call("move", { from: "m/one.txt", to: "n/two.txt" })).toEqual({
      from: folder.path("m/one.txt"),
      to: folder.path("n/two.txt"),
    });
    await folder.call("move", { from: "m", to: "n/m" });
    expect(await readlink(folder.path("n/m/link"))).toBe("one.txt");
    expect([await contents("n/two.txt"), existsSync(folder.path("m"))]).toEqual(["1", false]);
  });

  test("replaces a file only where that is wanted, and a folder never", async () => {
    await folder.put("from.txt", "from");
    await folder.put("to.txt", "to");
    await folder.put("full/x.txt", "");
    await mkdir(folder.path("hollow"));
    const failure = (from: string, to: string, more = {}) => folder.failure("move", { from, to, ...more });
    expect(await failure("from.txt", "to.txt")).toBe(
      '"to.txt" is there already; overwrite: true replaces it',
    );
    expect(await failure("from.txt", "full", { overwrite: true })).toBe('"full" is there already');
    expect(await failure("full", "hollow", { overwrite: true })).toBe('"hollow" is there already');
    expect(await failure("full", "full/in/itself")).toContain("no such name or place");
    expect(await failure(folder.root, "x")).toContain("stays where it is");
    expect(await failure("gone.txt", "x")).toContain('"gone.txt" does not exist');
    await folder.call("move", { from: "from.txt", to: "to.txt", overwrite: true });
    expect([await contents("to.txt"), existsSync(folder.path("from.txt"))]).toEqual(["from", false]);
  });
});

describe("delete", () => {
  test("deletes files, links and empty folders", async () => {
    await folder.put("d/a.txt", "");
    await symlink("a.txt", folder.path("d/link"));
    expect(await folder.call("delete", { path: "d/link" })).toEqual({
      path: folder.path("d/link"),
      deleted: 1,
    });
    expect((await lstat(folder.path("d/a.txt"))).isFile()).toBe(true);
    expect(await folder.failure("delete", { path: "d" })).toContain(
      "recursive: true deletes all that is in it",
    );
    await folder.call("delete", { path: "d/a.txt" });
    await folder.call("delete", { path: "d" });
    expect(existsSync(folder.path("d"))).toBe(false);
  });

  test("deletes a folder with all that is in it, and nothing that its links lead to", async () => {
    await folder.put("all/a/b.txt", "");
    await symlink(folder.outside, folder.path("all/a/out"));
    // Where the system takes it, one has a name that is no valid Unicode.
    if (process.platform === "linux")
      await writeFile(Buffer.concat([Buffer.from(`${folder.root}/all/a`), Buffer.from([0xff])]), "");
    expect(await folder.call("delete", { path: "all", recursive: true })).toMatchObject({
      deleted: process.platform === "linux" ? 5 : 4,
    });
    expect(existsSync(folder.path("all"))).toBe(false);
    expect(await readdir(folder.outside)).toEqual(["secret.txt"]);
    expect(await folder.failure("delete", { path: folder.root, recursive: true })).toContain(
      "stays where it is",
    );
  });
});

describe("what is offered", () => {
  const namesWith = async (options: object) => {
    const other = await openFolder(options);
    const tools = await other.client.listTools();
    await other.close();
    return tools.map(({ name }) => name);
  };

  test("nothing is deleted unless it is allowed, and nothing is changed when all is read-only", async () => {
    const reading = ["read_file", "list_directory", "search_files", "stat"];
    const changing = ["write_file", "create_directory", "edit_file", "move"];
    expect(await namesWith({})).toEqual([...reading, ...changing]);
    expect(await namesWith({ allowDelete: true })).toEqual([...reading, ...changing, "delete"]);
    expect(await namesWith({ readOnly: true })).toEqual(reading);
    await expect(createFiles({ readOnly: true, allowDelete: true })).rejects.toThrow("exclude each other");
    await expect(createFiles({ maxEntries: 0 })).rejects.toThrow(
      "maxEntries must be a positive integer, not 0",
    );
    await writeFile(folder.path("plain.txt"), "");
    await expect(createFiles({ folders: [folder.path("plain.txt")] })).rejects.toThrow("is no folder");
  });

  test("every tool says what it is, what it takes and gives, and what it may do", async () => {
    const tools = await folder.client.listTools();
    for (const tool of tools) {
      expect(tool, tool.name).toMatchObject({
        title: expect.any(String),
        description: expect.any(String),
        outputSchema: { type: "object" },
        annotations: {
          readOnlyHint: expect.any(Boolean),
          destructiveHint: expect.any(Boolean),
          openWorldHint: false,
        },
      });
    }
  });
});
