/** The same tasks with our files server and with the reference one: the same files come of them. */

import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "@patchbay/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Attendance, takeAttendance } from "../processes/attendance.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

interface Contender {
  name: string;
  args: string[];
  tools: { read: string; find: string };
  readLines(path: string, count: number): object;
  edit(path: string, from: string, to: string, dryRun: boolean): object;
  move(from: string, to: string): { name: string; args: Record<string, unknown> };
  find(path: string, name: string): Record<string, unknown>;
}

const OURS: Contender = {
  name: "patchbay serve files",
  args: [at("../../packages/cli/dist/main.js"), "serve", "files"],
  tools: { read: "read_file", find: "search_files" },
  readLines: (path, count) => ({ path, end_line: count }),
  edit: (path, from, to, dry_run) => ({ path, edits: [{ old_text: from, new_text: to }], dry_run }),
  move: (from, to) => ({ name: "move", args: { from, to } }),
  find: (path, name) => ({ path, name }),
};
const REFERENCE: Contender = {
  name: "server-filesystem",
  args: [at("../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js")],
  tools: { read: "read_text_file", find: "search_files" },
  readLines: (path, count) => ({ path, head: count }),
  edit: (path, from, to, dryRun) => ({ path, edits: [{ oldText: from, newText: to }], dryRun }),
  move: (from, to) => ({ name: "move_file", args: { source: from, destination: to } }),
  find: (path, name) => ({ path, pattern: `**/${name}` }),
};

describe.each([OURS, REFERENCE])("$name", ({ args, tools, readLines, edit, move, find }) => {
  let attendance: Attendance;
  let folder: string;
  let client: Client;

  beforeAll(async () => {
    attendance = await takeAttendance();
    folder = await realpath(await mkdtemp(join(tmpdir(), "patchbay-files-")));
    await mkdir(join(folder, "src"));
    await writeFile(join(folder, "src/a.ts"), "one\ntwo\nthree\n");
    client = await connect({ command: process.execPath, args: [...args, folder], env: attendance.env });
  });

  afterAll(async () => {
    await client?.close();
    await rm(folder, { recursive: true, force: true });
    await attendance.close();
  });

  const path = (name: string) => join(folder, name);
  async function text(tool: string, given: object): Promise<string> {
    const { content, isError } = await client.callTool(tool, { ...given });
    const [block] = content;
    if (isError || block?.type !== "text") throw new Error(JSON.stringify(content));
    return block.text;
  }

  test("reads a file, and its first lines", async () => {
    expect(await text(tools.read, { path: path("src/a.ts") })).toBe("one\ntwo\nthree\n");
    expect((await text(tools.read, readLines(path("src/a.ts"), 2))).trimEnd()).toBe("one\ntwo");
  });

  test("lists a folder, and finds a file", async () => {
    expect(await text("list_directory", { path: folder })).toContain("src");
    expect(await text(tools.find, find(folder, "a.ts"))).toContain("a.ts");
  });

  test("writes, edits and moves", async () => {
    await text("write_file", { path: path("b.txt"), content: "one\n" });
    expect(await text("edit_file", edit(path("b.txt"), "one", "1", true))).toContain("-one\n+1\n");
    expect(await readFile(path("b.txt"), "utf8")).toBe("one\n");
    await text("edit_file", edit(path("b.txt"), "one", "1", false));
    await text("create_directory", { path: path("made/deep") });
    const moving = move(path("b.txt"), path("made/deep/c.txt"));
    await text(moving.name, moving.args);
    expect(await readdir(folder)).toEqual(["made", "src"]);
    expect(await readFile(path("made/deep/c.txt"), "utf8")).toBe("1\n");
  });

  test("refuses what is outside", async () => {
    const { isError } = await client.callTool(tools.read, { path: "/etc/passwd" });
    expect(isError).toBe(true);
  });
});
