/** Writing a file so that it is the old one or the new one, never half of it, and never another one. */

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, type FileHandle, link, lstat, mkdir, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { codeOf } from "./failures.ts";
import { type Allowed, checkRegular, type Pin, withChild, withPin } from "./pin.ts";
import { quoted, type Roots } from "./roots.ts";

const { O_WRONLY, O_CREAT, O_EXCL, O_RDONLY, O_NOFOLLOW = 0, W_OK } = constants;
/** Permissions without set-user-ID and its like, which do not outlive a write. */
const MODE = 0o777;

/** Where a file is, or will be: its folder, which is held, and its name there. */
export interface Target {
  readonly folder: Pin;
  readonly name: string;
  readonly real: string;
  /** The file as it is; nothing where there is none. */
  readonly current: Pin["stats"] | undefined;
}

/**
 * Works where a path leads to, links followed; there may be nothing yet.
 *
 * @param path absolute, as `roots.locate` gave it
 * @param makeFolders whether folders that are missing are made
 */
export async function withTarget<T>(
  path: string,
  roots: Roots,
  makeFolders: boolean,
  work: (target: Target) => Promise<T>,
): Promise<T> {
  const current = await withPin(path, roots, async ({ real, stats }) => ({ real, stats })).catch((error) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  const real = current?.real ?? path;
  if (roots.isRoot(real)) throw new Error(`${quoted(path)} is a folder that may be used, and stays as it is`);
  const name = basename(real);
  return (makeFolders && current === undefined ? withMadeFolder : withPin)(
    dirname(real),
    roots,
    async (folder) => {
      if (current === undefined) await checkNoLink(folder, name);
      return work({ folder, name, real: join(folder.real, name), current: current?.stats });
    },
  );
}

/** A link that leads nowhere would be replaced, though its name is not what was meant. */
async function checkNoLink(folder: Pin, name: string): Promise<void> {
  const stats = await lstat(join(folder.via, name)).catch(() => undefined);
  if (stats?.isSymbolicLink()) throw new Error(`${quoted(name)} is a symbolic link that leads nowhere`);
}

/** Works in a folder, which is made where it is missing, and the folders on the way. */
export async function withMadeFolder<T>(
  path: string,
  roots: Roots,
  work: (folder: Pin) => Promise<T>,
): Promise<T> {
  try {
    return await withPin(path, roots, work);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || roots.isRoot(path)) throw error;
  }
  return withMadeFolder(dirname(path), roots, async (parent) => {
    const name = basename(path);
    await mkdir(join(parent.via, name)).catch((error) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
    return withChild(parent, name, work);
  });
}

/**
 * Puts bytes in a file's place: into a file of their own first, which then takes its name. The permissions stay.
 *
 * @param overwrite whether what is there may be replaced
 * @throws Error when it was changed since `target.current`, where `unchanged` says that this matters
 */
export async function replace(
  { folder, name, current }: Target,
  bytes: Uint8Array,
  allowed: Allowed,
  { overwrite = true, unchanged = false }: { overwrite?: boolean; unchanged?: boolean } = {},
): Promise<void> {
  const path = join(folder.via, name);
  if (current !== undefined) {
    if (!overwrite) throw new Error(`${quoted(name)} is there already; overwrite: true replaces it`);
    checkRegular({ stats: current }, name, allowed);
    await access(path, W_OK);
  }
  const temporary = join(folder.via, `.patchbay-${randomBytes(8).toString("hex")}.tmp`);
  const file = await open(
    temporary,
    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
    current === undefined ? 0o666 : 0o600,
  );
  try {
    try {
      await file.writeFile(bytes);
      if (current !== undefined) await takeOver(file, name, current);
      await file.sync();
    } finally {
      await file.close();
    }
    if (unchanged && !isSame(await lstat(path), current)) {
      throw new Error(`${quoted(name)} was changed meanwhile; read it again, and repeat the edit`);
    }
    if (current !== undefined || overwrite) await rename(temporary, path);
    else await giveName(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  await syncFolder(folder);
}

/** Lets a new file have the permissions and the owner of the one whose place it takes. */
async function takeOver(file: FileHandle, name: string, { mode, uid, gid }: Pin["stats"]): Promise<void> {
  const own = await file.stat();
  if (own.uid !== uid || own.gid !== gid) {
    await file.chown(uid, gid).catch(() => {
      throw new Error(
        `${quoted(name)} belongs to another user, whose it would no longer be; nothing was changed`,
      );
    });
  }
  await file.chmod(mode & MODE);
}

function isSame(now: Pin["stats"], then: Pin["stats"] | undefined): boolean {
  return now.ino === then?.ino && now.size === then.size && now.mtimeMs === then.mtimeMs;
}

/** Gives a file another name, if nothing has it: what came there meanwhile stays, where the file system has hard links. */
export async function giveName(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!["EPERM", "ENOTSUP", "ENOSYS"].includes(codeOf(error) ?? "")) throw error;
    return rename(from, to);
  }
  await unlink(from);
}

/** What a folder holds is on the disk then, where its system can tell. */
async function syncFolder(folder: Pin): Promise<void> {
  const handle = await open(folder.via, O_RDONLY).catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
