/**
 * Working folders that are kept between calls, each as one archive on disk. An archive is opened in the sandbox only:
 * links and devices that a command left in it mean nothing to us.
 */

import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  createWriteStream,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { type FileMap, readArchive } from "../sandbox/archive.ts";
import type { Files } from "../sandbox/run.ts";

export interface FolderLimits {
  /** Folders at once, of all who ask. Default 100. */
  maxFolders: number;
  /** Milliseconds that a folder is kept after its last use. Default 604,800,000, a week. */
  folderTtl: number;
}

const HANDLE = /^folder-[0-9a-f]{32}$/;
const SUFFIX = ".tar";
/** What is being written; a server that is killed leaves it. */
const NEXT = ".next";

/** The folders in one folder of the operator's. They are whose made them: others don't find them. */
export class Folders {
  readonly #root: string;
  readonly #limits: FolderLimits;
  /** By the names of archives: the end of the call that has it now. */
  readonly #used = new Map<string, Promise<void>>();

  /** @throws Error when the folder cannot be made or written to */
  constructor(root: string, limits: FolderLimits) {
    this.#root = root;
    this.#limits = limits;
    mkdirSync(root, { recursive: true, mode: 0o700 });
  }

  /**
   * @param owner who it is for
   * @returns its handle
   * @throws Error that names the limit
   */
  create(owner: string): string {
    this.#removeOld();
    if (this.#names().length >= this.#limits.maxFolders)
      throw new Error(
        `there are as many folders as maxFolders allows (${this.#limits.maxFolders}); delete one`,
      );
    const handle = `folder-${randomBytes(16).toString("hex")}`;
    try {
      writeFileSync(this.#fileOf(handle, owner), "", { flag: "wx", mode: 0o600 });
    } catch (thrown) {
      throw shown(thrown);
    }
    return handle;
  }

  /** @throws Error when there is none */
  async delete(handle: string, owner: string): Promise<void> {
    await this.#alone(handle, owner, async (file) => rmSync(file));
  }

  /** The files in it, by their paths; nothing when there is no such folder. */
  files(handle: string, owner: string): FileMap | undefined {
    const file = HANDLE.test(handle) ? this.#fileOf(handle, owner) : undefined;
    try {
      return file === undefined ? undefined : readArchive(readFileSync(file));
    } catch {
      return undefined;
    }
  }

  /**
   * Does something with a folder, which nobody else has meanwhile. What is in it afterwards replaces what was in it, if
   * `work` says so: at once, or not at all.
   *
   * @throws Error when there is no such folder
   */
  use<T extends { filesKept: boolean }>(
    handle: string,
    owner: string,
    maxBytes: number,
    work: (files: Files) => Promise<T>,
  ): Promise<T> {
    return this.#alone(handle, owner, async (file) => {
      const before = openSync(file, "r");
      // Another server may be at work in the same folder: then the last to end wins.
      const next = `${file}.${randomBytes(8).toString("hex")}${NEXT}`;
      const writing = createWriteStream(next, { mode: 0o600 });
      const written = finished(writing);
      // It is waited for below; when the work fails first, nobody is told but them.
      written.catch(() => {});
      try {
        const given = await work({
          before: statSync(file).size === 0 ? undefined : before,
          after: (chunk) => void writing.write(chunk),
          maxBytes,
        });
        writing.end();
        await written;
        if (given.filesKept) renameSync(next, file);
        return given;
      } finally {
        writing.destroy();
        closeSync(before);
        rmSync(next, { force: true });
      }
    });
  }

  /** Does something with a folder's archive when nobody else has it. */
  async #alone<T>(handle: string, owner: string, work: (file: string) => Promise<T>): Promise<T> {
    const file = this.#fileOf(handle, owner);
    const before = this.#used.get(file);
    const mine = (async () => {
      await before;
      if (!HANDLE.test(handle) || statSync(file, { throwIfNoEntry: false }) === undefined)
        throw new Error(
          `there is no folder ${JSON.stringify(handle.slice(0, 64))}; make one with open_folder`,
        );
      return work(file);
    })();
    const over = mine.then(
      () => {},
      () => {},
    );
    this.#used.set(file, over);
    try {
      return await mine;
    } catch (thrown) {
      throw shown(thrown);
    } finally {
      if (this.#used.get(file) === over) this.#used.delete(file);
    }
  }

  /** Whose it is is part of its name: who is somebody else comes to another. */
  #fileOf(handle: string, owner: string): string {
    const name = createHash("sha256").update(`${owner}\n${handle}`).digest("hex");
    return join(this.#root, name + SUFFIX);
  }

  #names(): string[] {
    return this.#all().filter((name) => name.endsWith(SUFFIX));
  }

  #all(): string[] {
    try {
      return readdirSync(this.#root);
    } catch (thrown) {
      throw shown(thrown);
    }
  }

  #removeOld(): void {
    const oldest = Date.now() - this.#limits.folderTtl;
    for (const name of this.#all().filter((each) => each.endsWith(SUFFIX) || each.endsWith(NEXT))) {
      const file = join(this.#root, name);
      const { mtimeMs = oldest } = statSync(file, { throwIfNoEntry: false }) ?? {};
      if (mtimeMs < oldest && !this.#used.has(file)) rmSync(file, { force: true });
    }
  }
}

/** What the file system says names a place that is the operator's. */
function shown(thrown: unknown): unknown {
  const { syscall, code } = thrown as NodeJS.ErrnoException;
  return syscall === undefined
    ? thrown
    : new Error(`the folders of this server cannot be read or written now (${code})`, { cause: thrown });
}
