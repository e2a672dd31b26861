/** A small file that only its user may read, shared by all processes of that user. */

import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { lock } from "proper-lockfile";
import { Queue } from "./queue.ts";

/** Milliseconds without a sign of life after which a lock's owner counts as dead. */
const STALE = 10_000;
/** Milliseconds between two looks at a lock that another process holds. */
const LOOK = 50;

/**
 * A file of mode 0600. Each change replaces it as a whole, so that a crash leaves the old one or the new; processes take
 * turns.
 */
export class PrivateFile {
  readonly path: string;
  readonly #maxBytes: number;
  readonly #queue = new Queue();

  /** @param maxBytes a larger file is not read */
  constructor(path: string, maxBytes: number) {
    this.path = path;
    this.#maxBytes = maxBytes;
  }

  /**
   * What is in it; nothing where it is not there.
   *
   * @throws Error when others can get at it, when it is too large, or the system's own
   */
  async read(): Promise<string | undefined> {
    try {
      return await readOwn(this.path, this.#maxBytes);
    } catch (error) {
      if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
      throw error;
    }
  }

  async write(text: string): Promise<void> {
    const temporary = `${this.path}.${randomUUID()}`;
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
      await file.close();
      await rename(temporary, this.path);
    } catch (error) {
      await file.close().catch(() => {});
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /**
   * Does work while nobody else does any under the same name: processes by a lock beside the file, whoever is in this
   * process in a queue before it. The folder is there then.
   */
  alone<T>(name: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(name, signal, async () => {
      const release = await this.#lock(name, signal);
      try {
        return await work();
      } finally {
        await release();
      }
    });
  }

  /**
   * Holds a name until the release is called, or this process is gone.
   *
   * @param signal gives up; the promise rejects with its reason
   * @throws the system's error, where there can be no lock
   */
  hold(name: string, signal?: AbortSignal): Promise<() => Promise<void>> {
    return this.#lock(name, signal);
  }

  async #lock(name: string, signal: AbortSignal | undefined): Promise<() => Promise<void>> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    const digest = createHash("sha256").update(name).digest("hex").slice(0, 32);
    const lockfilePath = `${this.path}.${digest}.lock`;
    while (true) {
      try {
        // A lock that was lost, by a machine that slept, say, is somebody else's now.
        const options = { realpath: false, stale: STALE, lockfilePath, onCompromised: () => {} };
        const release = await lock(lockfilePath, options);
        return () => release().catch(() => {});
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ELOCKED") throw error;
        await wait(LOOK, undefined, signal === undefined ? {} : { signal });
      }
    }
  }
}

/** Reads a file that nobody else can read or write, and that is no link to another. */
async function readOwn(path: string, maxBytes: number): Promise<string> {
  // Not to wait for the other end of a pipe.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error(`${path} is no regular file`);
    const { size, mode, uid } = found;
    if (size > maxBytes) throw new Error(`${path} is larger than it may be (${maxBytes} bytes)`);
    const isOthers = process.getuid !== undefined && uid !== process.getuid();
    if (process.platform !== "win32" && ((mode & 0o077) !== 0 || isOthers))
      throw new Error(`${path} holds secrets, and others can get at it: make it yours alone (chmod 600)`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
