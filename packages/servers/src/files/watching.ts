/** Watches files and folders for who subscribed to them. A file is watched by its folder: it may be replaced, or not be there yet. */

import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { codeOf } from "./failures.ts";
import { BeyondLimitError } from "./limits.ts";
import { withPin } from "./pin.ts";
import type { Roots } from "./roots.ts";

/** Milliseconds in which changes are one change: a write is many of them to the system. */
const GATHERED_MS = 50;
const TEMPORARY = /^\.patchbay-[0-9a-f]+\.tmp$/;

/** Hears the name of an entry that changed, or nothing where the system does not say which. */
type Listener = (name: string | undefined) => void;

interface WatchedFolder {
  readonly watcher: FSWatcher;
  readonly listeners: Set<Listener>;
}

/** The folders that are watched. None of them keeps the process alive. */
export class Watching {
  readonly #most: number;
  readonly #folders = new Map<string, WatchedFolder>();

  /** @param most folders at once */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Watches what a path leads to, or will lead to: a folder and what is right in it, or a file.
   *
   * @param changed is called some milliseconds after a change, once for changes that come together
   * @returns ends it
   * @throws OutsideError when it is not in the folders; BeyondLimitError; errors of the system
   */
  async watch(path: string, roots: Roots, changed: () => void): Promise<() => void> {
    const target = await withPin(path, roots, async ({ real, stats }) => ({
      real,
      isFolder: stats.isDirectory(),
    })).catch((error) => {
      if (codeOf(error) === "ENOENT") return { real: path, isFolder: false };
      throw error;
    });
    const name = target.isFolder ? undefined : basename(target.real);
    const gathered = gathering(changed);
    const end = await this.#listen(target.isFolder ? target.real : dirname(target.real), roots, (which) => {
      if (which !== undefined && TEMPORARY.test(which)) return;
      if (name === undefined || which === undefined || which === name) gathered.add();
    });
    return () => {
      gathered.end();
      end();
    };
  }

  async #listen(path: string, roots: Roots, listener: Listener): Promise<() => void> {
    return withPin(path, roots, async ({ real, via }) => {
      const folder = this.#folders.get(real) ?? this.#begin(real, via);
      folder.listeners.add(listener);
      return () => {
        folder.listeners.delete(listener);
        if (folder.listeners.size === 0) this.#end(real, folder);
      };
    });
  }

  #begin(real: string, via: string): WatchedFolder {
    if (this.#folders.size >= this.#most)
      throw new BeyondLimitError("maxWatchedFolders", this.#most, "more folders are watched");
    const listeners = new Set<Listener>();
    const tell = (name: string | null) => {
      for (const listener of listeners) listener(name ?? undefined);
    };
    const watcher = watch(via, { persistent: false }, (_event, name) => tell(name));
    const folder = { watcher, listeners };
    watcher.on("error", () => {
      // It is gone, or cannot be watched any longer: something changed, and nothing more will be heard.
      tell(null);
      this.#end(real, folder);
    });
    this.#folders.set(real, folder);
    return folder;
  }

  #end(real: string, folder: WatchedFolder): void {
    folder.watcher.close();
    if (this.#folders.get(real) === folder) this.#folders.delete(real);
  }
}

/** Calls once for what comes within a moment. */
function gathering(call: () => void): { add(): void; end(): void } {
  let timer: NodeJS.Timeout | undefined;
  return {
    add() {
      timer ??= setTimeout(() => {
        timer = undefined;
        call();
      }, GATHERED_MS).unref();
    },
    end: () => clearTimeout(timer),
  };
}
