/** What is in a folder, some entries at a time, and what the system says of each. */

import { type Dirent, lstat, lstatSync, type Stats } from "node:fs";
import { opendir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Pin } from "./pin.ts";

const statOf = promisify(lstat);

/** Entries that are given at a time. */
const BATCH = 128;

/** ext4, xfs, btrfs, zfs, tmpfs, overlay: file systems of this machine, as Linux numbers them. */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0x01021994, 0x794c7630]);

/** Whether a file system is one of this machine, by its device. */
const local = new Map<number, boolean>();

async function isLocal({ stats: { dev }, via }: Pin): Promise<boolean> {
  const known = local.get(dev);
  if (known !== undefined) return known;
  const found = LOCAL.has((await statfs(via)).type);
  local.set(dev, found);
  return found;
}

/** The entries of a folder, in no order. */
export async function* entriesOf(folder: Pin): AsyncGenerator<Dirent[]> {
  const open = await opendir(folder.via, { bufferSize: BATCH });
  try {
    for (let next = await open.read(); next !== null; next = await open.read()) {
      // The system was asked for as many: those that came with the first are there, and need no waiting.
      const batch = [next];
      while (batch.length < BATCH) {
        const more = open.readSync();
        if (more === null) break;
        batch.push(more);
      }
      yield batch;
    }
  } finally {
    await open.close();
  }
}

/** What the system says of entries of a folder; nothing of one that is gone. */
export async function statsOf(folder: Pin, names: readonly string[]): Promise<(Stats | undefined)[]> {
  const paths = names.map((name) => join(folder.via, name));
  if (!(await isLocal(folder))) return Promise.all(paths.map((path) => statOf(path).catch(() => undefined)));
  // Here an answer takes some microseconds, and waiting for it in another thread takes many.
  return paths.map((path) => lstatSync(path, { throwIfNoEntry: false }));
}
