/** Nobody gets out of the folders that may be used: not by names, not by links, not by being quick. */

import { execFileSync } from "node:child_process";
import { link, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createFiles } from "../../src/files/index.ts";
import { filesLimits } from "../../src/files/limits.ts";
import { type Pin, withPin } from "../../src/files/pin.ts";
import { readWhole } from "../../src/files/reading.ts";
import { checkWindowsName, rootsOf } from "../../src/files/roots.ts";
import { type Folder, openFolder, textOf } from "./folder.ts";

/** The server as it is where there is no /proc to hold on to files by. */
async function elsewhere(): Promise<typeof createFiles> {
  const own = Object.getOwnPropertyDescriptor(process, "platform") as PropertyDescriptor;
  Object.defineProperty(process, "platform", { ...own, value: "darwin" });
  vi.resetModules();
  try {
    return (await import("../../src/files/index.ts")).createFiles;
  } finally {
    Object.defineProperty(process, "platform", own);
  }
}

describe.each([
  ["on Linux", async () => createFiles],
  ["elsewhere", elsewhere],
])("%s", (_where, load) => {
  let folder: Folder;
  beforeAll(async () => {
    folder = await openFolder({ allowDelete: true }, {}, await load());
    await folder.put("inside.txt", "INSIDE\n");
    await mkdir(`${folder.root}-beside`);
    await writeFile(`${folder.root}-beside/secret.txt`, "SECRET\n");
    await symlink(folder.outside, folder.path("out"));
    await symlink(join(folder.outside, "secret.txt"), folder.path("out.txt"));
    await symlink("../outside/secret.txt", folder.path("relative.txt"));
    await symlink("inside.txt", folder.path("in.txt"));
    await symlink("turning", folder.path("turning"));
  });
  afterAll(() => folder.close());

  /** What each tool says of a path that leads out. */
  async function refusals(path: string): Promise<string[]> {
    return [
      await folder.failure("read_file", { path }),
      await folder.failure("stat", { path }),
      await folder.failure("list_directory", { path }),
      await folder.failure("search_files", { path, text: "SECRET" }),
      await folder.failure("write_file", { path, content: "PWNED" }),
      await folder.failure("edit_file", { path, edits: [{ old_text: "SECRET", new_text: "PWNED" }] }),
    ];
  }

  test("names that lead out are refused by every tool, and nothing is touched", async () => {
    const names = [
      join(folder.outside, "secret.txt"),
      "../outside/secret.txt",
      "x/../../outside/secret.txt",
      `${folder.root}/../outside/secret.txt`,
      `${folder.root}-beside/secret.txt`,
      `${folder.root}/./x/./../../outside`,
      "/",
      "/etc/passwd",
      "file:///etc/passwd",
      `file://${folder.root}/%2e%2e/outside/secret.txt`,
      "out.txt",
      "relative.txt",
      "out/secret.txt",
      "out/new.txt",
      "out",
    ];
    for (const name of names) {
      for (const refusal of await refusals(name)) {
        expect(refusal, name).toContain("is outside of the folders that may be used");
        expect(refusal, name).not.toContain("SECRET");
      }
      // What is moved and deleted is a link itself, wherever it leads.
      if (!/^(out|relative)[^/]*$/.test(name)) {
        expect(await folder.failure("move", { from: name, to: "stolen" }), name).toContain("is outside of");
        expect(await folder.failure("delete", { path: name }), name).toContain("is outside of");
      }
      expect(await folder.failure("create_directory", { path: name }), name).toContain("is outside of");
      expect(await folder.failure("move", { from: "inside.txt", to: `${name}/in` }), name).toContain(
        "is outside of",
      );
    }
    expect(await readdir(folder.outside)).toEqual(["secret.txt"]);
    expect(await readFile(join(folder.outside, "secret.txt"), "utf8")).toBe("SECRET\n");
    expect(await folder.call("read_file", { path: "in.txt" })).toMatchObject({ text: "INSIDE\n" });
  });

  test("names that cannot be paths are refused, and say why", async () => {
    const failure = (path: string) => folder.failure("read_file", { path });
    expect(await failure("inside.txt\0.png")).toBe("a path holds no NUL character");
    expect(await failure("\ud800.txt")).toContain("is not valid Unicode");
    expect(await failure("x".repeat(300))).toContain("too long for this file system");
    expect(await failure("x/".repeat(2049))).toContain("path");
    expect(await failure("turning")).toContain("too many symbolic links");
    expect(await failure("file:///a%2Fb")).toContain("may not be percent-encoded");
    expect(await failure("file://far.example/etc/passwd")).toContain("names another machine");
    expect(await failure("file:///x?y")).toContain("has a query or a fragment");
    expect(await failure("INSIDE.TXT")).toContain('did you mean "inside.txt"?');
  });

  test("a file with another name, which may be outside, is neither read nor replaced", async () => {
    await link(join(folder.outside, "secret.txt"), folder.path("hard.txt"));
    for (const refusal of [
      await folder.failure("read_file", { path: "hard.txt" }),
      await folder.failure("write_file", { path: "hard.txt", content: "PWNED" }),
      await folder.failure("edit_file", { path: "hard.txt", edits: [{ old_text: "S", new_text: "P" }] }),
    ])
      expect(refusal).toContain("has 2 names (hard links)");
    expect((await folder.call("search_files", { text: "SECRET" })).matches).toEqual([]);
    const uri = `file://${folder.path("hard.txt")}`;
    await expect(folder.client.readResource(uri)).rejects.toThrow("has 2 names (hard links)");
    await folder.call("delete", { path: "hard.txt" });
    expect(await readFile(join(folder.outside, "secret.txt"), "utf8")).toBe("SECRET\n");
  });

  test("what is no regular file is not opened, and nobody waits for it", async () => {
    execFileSync("mkfifo", [folder.path("pipe")]);
    expect(await folder.failure("read_file", { path: "pipe" })).toBe(
      '"pipe" is a named pipe; only regular files are touched',
    );
    expect(await folder.failure("write_file", { path: "pipe", content: "" })).toContain("is a named pipe");
    expect(await folder.failure("delete", { path: "pipe" })).toContain("is neither a file nor a folder");
    expect(await folder.failure("move", { from: "pipe", to: "p" })).toContain(
      "is neither a file nor a folder",
    );
    expect(await folder.call("stat", { path: "pipe" })).toMatchObject({ type: "other" });
    expect((await folder.call("search_files", { text: "INSIDE" })).matches).toHaveLength(1);
    const devices = await openFolder({ folders: ["/dev"] }, {}, await load());
    expect(await devices.failure("read_file", { path: "zero" })).toContain("is a device");
    expect(await devices.failure("write_file", { path: "null", content: "" })).toContain("is a device");
    await devices.close();
  });
});

test("files with several names are read and replaced where the operator allows it", async () => {
  const folder = await openFolder({ allowHardLinks: true });
  await link(await folder.put("one.txt", "one"), folder.path("two.txt"));
  expect(await folder.call("read_file", { path: "two.txt" })).toMatchObject({ text: "one" });
  await folder.call("write_file", { path: "two.txt", content: "two" });
  expect([
    await readFile(folder.path("one.txt"), "utf8"),
    (await stat(folder.path("two.txt"))).nlink,
  ]).toEqual(["one", 1]);
  await folder.close();
});

test("a folder whose place another takes is no longer used", async () => {
  const folder = await openFolder();
  await rename(folder.root, `${folder.root}-moved`);
  await symlink(folder.outside, folder.root);
  expect(await folder.failure("read_file", { path: "secret.txt" })).toContain("is outside of the folders");
  expect(await folder.failure("write_file", { path: "new.txt", content: "" })).toContain(
    "is outside of the folders",
  );
  await folder.close();
});

test("names that Windows takes for something else are refused there", () => {
  for (const path of [
    "C:\\a\\file.txt:stream",
    "C:\\a\\CON",
    "aux.txt",
    "\\\\server\\share",
    "\\\\?\\C:\\a",
    "a. ",
    "a.",
  ])
    expect(() => checkWindowsName(path), path).toThrow();
  for (const path of ["C:\\a\\b.txt", "a/../b", "./console.txt"]) checkWindowsName(path);
});

describe("a link that is swapped as fast as can be", () => {
  const READS = 10_000;
  const AT_ONCE = 50;

  /** Swaps what `root/way` leads to, and whether `root/real` is a folder or a link, until it is ended. */
  const SWAPPER = `
    const { parentPort, workerData: { root, outside } } = require("node:worker_threads");
    const { renameSync, symlinkSync } = require("node:fs");
    parentPort.postMessage("swapping");
    for (let turn = 0; ; turn++) {
      symlinkSync(turn % 2 ? outside : root + "/inside", root + "/way.next");
      renameSync(root + "/way.next", root + "/way");
      symlinkSync(turn % 2 ? outside + "/secret.txt" : root + "/inside/secret.txt", root + "/file.next");
      renameSync(root + "/file.next", root + "/file");
      renameSync(root + "/real", root + "/real.aside");
      symlinkSync(outside, root + "/real");
      renameSync(root + "/real", root + "/real.link");
      renameSync(root + "/real.aside", root + "/real");
    }`;

  let folder: Folder;
  let swapper: Worker;
  beforeAll(async () => {
    folder = await openFolder();
    await folder.put("inside/secret.txt", "INSIDE\n");
    await folder.put("real/secret.txt", "INSIDE\n");
    swapper = new Worker(SWAPPER, { eval: true, workerData: { root: folder.root, outside: folder.outside } });
    await new Promise((resolve) => swapper.once("message", resolve));
  });
  afterAll(async () => {
    await swapper.terminate();
    await folder.close();
  });

  /** Calls again and again, some at a time; gives what was said, and how often. */
  async function hammer(
    times: number,
    call: (turn: number) => Promise<string>,
  ): Promise<Map<string, number>> {
    const said = new Map<string, number>();
    for (let turn = 0; turn < times; turn += AT_ONCE) {
      const texts = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => call(turn + index)));
      for (const text of texts) said.set(text, (said.get(text) ?? 0) + 1);
    }
    return said;
  }

  const PATHS = ["way/secret.txt", "file", "real/secret.txt"];

  /** It was a race: both were met, what is inside and what is outside; and nothing was given of what is outside. */
  function expectNoLeak(said: Map<string, number>): void {
    expect([...said.keys()].filter((text) => text.includes("SECRET"))).toEqual([]);
    expect(said.get("INSIDE\n")).toBeGreaterThan(0);
    expect([...said.keys()].some((text) => text.includes("is outside of the folders"))).toBe(true);
  }

  test(`${READS} reads give nothing that is outside`, { timeout: 60_000 }, async () => {
    const roots = await rootsOf([folder.root]);
    const limits = filesLimits({});
    const said = await hammer(READS, async (turn) => {
      const path = PATHS[turn % PATHS.length] as string;
      const read = (pin: Pin) => readWhole(pin, path, { hardLinks: false }, limits);
      return withPin(roots.locate(path), roots, read).then(String, ({ message }) => message);
    });
    expectNoLeak(said);
  });

  test("nor do the tool's", { timeout: 60_000 }, async () => {
    const said = await hammer(500, async (turn) =>
      textOf(await folder.client.callTool("read_file", { path: PATHS[turn % PATHS.length] })),
    );
    expectNoLeak(said);
  });

  test("searches find nothing that is outside", async () => {
    const said = await hammer(100, async () => {
      const { structuredContent } = await folder.client.callTool("search_files", { text: "E" });
      const { matches } = structuredContent as { matches: { text: string }[] };
      return matches.map(({ text }) => text).join();
    });
    expect([...said.keys()].filter((text) => text.includes("SECRET"))).toEqual([]);
    expect([...said.keys()].some((text) => text.includes("INSIDE"))).toBe(true);
  });

  test("writes change nothing that is outside", { timeout: 60_000 }, async () => {
    const said = await hammer(200, async (turn) => {
      const path = PATHS[turn % 2] as string;
      const written = await folder.client.callTool("write_file", { path, content: `INSIDE ${turn}` });
      const beside = path.replace(/secret\.txt$/, `new-${turn}.txt`);
      await folder.client.callTool("write_file", { path: beside, content: "" });
      return written.isError ? "refused" : "written";
    });
    expect(await readFile(join(folder.outside, "secret.txt"), "utf8")).toBe("SECRET\n");
    expect(await readdir(folder.outside)).toEqual(["secret.txt"]);
    expect(said.get("written")).toBeGreaterThan(0);
  });
});
