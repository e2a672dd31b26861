/** Credentials in a file that only its user may read, shared by all processes of that user. */

import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { isObject } from "@patchbay/core";
import { lock } from "proper-lockfile";
import { type CredentialStore, type Kept, Queue } from "./store.ts";

export interface FileStoreOptions {
  /** The file. Default `patchbay/credentials.json` in `$XDG_CONFIG_HOME` or `~/.config`; on Windows in `%APPDATA%`. */
  path?: string;
}

type Content = { [Kind in keyof Kept]: Record<string, Kept[Kind]> };

const MAX_BYTES = 4 * 1024 * 1024;
/** Milliseconds without a sign of life after which a lock's owner counts as dead. */
const STALE = 10_000;
/** Milliseconds between two looks at a lock that another process holds. */
const LOOK = 50;

/**
 * Keeps credentials in a file of mode 0600. Each change replaces the whole file, so that a crash leaves the old or the
 * new one; processes take turns.
 */
export function fileStore({ path = defaultPath() }: FileStoreOptions = {}): CredentialStore {
  const store = new FileStore(path);
  return {
    get: async (kind, key) => own((await store.read())[kind], key),
    set: (kind, key, value) =>
      store.alone("file", undefined, async () => {
        const content = await store.read();
        const { [key]: _before, ...others } = content[kind];
        const entries = value === undefined ? others : { ...others, [key]: value };
        await store.write({ ...content, [kind]: entries });
      }),
    list: async (kind) => Object.values((await store.read())[kind]),
    alone: (name, signal, work) => store.alone(name, signal, work),
  };
}

/** Where the credentials of this user are, unless an option says otherwise. */
export function defaultPath(env: NodeJS.ProcessEnv = process.env, platform = process.platform): string {
  const roaming = env.APPDATA || join(homedir(), "AppData", "Roaming");
  const folder = platform === "win32" ? roaming : env.XDG_CONFIG_HOME || join(homedir(), ".config");
  return join(folder, "patchbay", "credentials.json");
}

class FileStore {
  readonly #path: string;
  readonly #queue = new Queue();

  constructor(path: string) {
    this.#path = path;
  }

  async read(): Promise<Content> {
    const empty: Content = { registration: {}, grant: {} };
    let text: string;
    try {
      text = await readOwn(this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return empty;
      throw error;
    }
    let content: unknown;
    try {
      content = JSON.parse(text);
    } catch {
      throw new Error(`${this.#path} is not JSON; mend it, or remove it and log in again`);
    }
    if (!isObject(content)) return empty;
    const { registration, grant } = content;
    return {
      registration: isObject(registration) ? (registration as unknown as Content["registration"]) : {},
      grant: isObject(grant) ? (grant as unknown as Content["grant"]) : {},
    };
  }

  async write(content: Content): Promise<void> {
    const temporary = `${this.#path}.${randomUUID()}`;
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(`${JSON.stringify(content, undefined, 2)}\n`);
      await file.sync();
      await file.close();
      await rename(temporary, this.#path);
    } catch (error) {
      await file.close().catch(() => {});
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** Processes by a lock beside the file, and whoever is in this process in a queue before it. */
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

  async #lock(name: string, signal: AbortSignal | undefined): Promise<() => Promise<void>> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const digest = createHash("sha256").update(name).digest("hex").slice(0, 32);
    const lockfilePath = `${this.#path}.${digest}.lock`;
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
async function readOwn(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const { size, mode, uid } = await file.stat();
    if (size > MAX_BYTES) throw new Error(`${path} is larger than credentials are (${MAX_BYTES} bytes)`);
    const isOthers = process.getuid !== undefined && uid !== process.getuid();
    if (process.platform !== "win32" && ((mode & 0o077) !== 0 || isOthers))
      throw new Error(`${path} holds secrets, and others can get at it: make it yours alone (chmod 600)`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function own<T>(entries: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(entries, key) ? entries[key] : undefined;
}
