/** On a disk that is full, a file stays what it was. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openFolder } from "./folder.ts";

/** A disk of 64 KiB; nothing where this user may mount none. */
function tinyDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "patchbay-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "ignore" });
    return folder;
  } catch {
    rmdirSync(folder);
    return undefined;
  }
}

const disk = tinyDisk();
afterAll(() => {
  if (disk === undefined) return;
  // Lazily: a file that was read is closed when nobody waits for it.
  execFileSync("umount", ["-l", disk]);
  rmdirSync(disk);
});

describe("on a full disk", () => {
  test.runIf(disk === undefined)("needs to mount a tiny disk, which only root may: not tested", () => {});

  test.runIf(disk !== undefined)("nothing is lost, and nothing is left over", async () => {
    const folder = await openFolder({ folders: [disk as string] });
    const kept = `${"kept\n".repeat(8000)}end`;
    await folder.call("write_file", { path: "kept.txt", content: kept });
    for (const failure of [
      await folder.failure("write_file", { path: "kept.txt", content: "x".repeat(50_000) }),
      await folder.failure("write_file", { path: "new.txt", content: "x".repeat(50_000) }),
      await folder.failure("edit_file", { path: "kept.txt", edits: [{ old_text: "end", new_text: "END" }] }),
    ])
      expect(failure).toBe("there is no space left on the disk; nothing was changed");
    expect(await readFile(join(disk as string, "kept.txt"), "utf8")).toBe(kept);
    expect(await readdir(disk as string)).toEqual(["kept.txt"]);
    await folder.call("write_file", { path: "small.txt", content: "fits" });
    await folder.close();
  });
});
