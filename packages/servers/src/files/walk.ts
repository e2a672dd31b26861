/** Goes through a folder and the folders in it. No link is followed, and none of them can be put in a folder's place. */

import type { Dirent } from "node:fs";
import { join, relative, sep } from "node:path";
import { entriesOf } from "./entries.ts";
import { codeOf } from "./failures.ts";
import { IgnoreRules } from "./ignoring.ts";
import { type Allowed, type Pin, withChild, withPin } from "./pin.ts";
import { openEntry } from "./reading.ts";
import type { Roots } from "./roots.ts";
import { lenientUtf8 } from "./text.ts";

/** What an entry is. */
export type EntryType = "file" | "directory" | "link" | "other";

/** An entry on the way. */
export interface Entry {
  readonly name: string;
  /** The names from where the walk began. */
  readonly names: readonly string[];
  readonly type: EntryType;
}

export interface WalkOptions {
  /** Folders within folders: 1 is the entries of the first alone. */
  readonly depth: number;
  /** Whether what git ignores is gone through, too. */
  readonly includeIgnored: boolean;
  readonly signal: AbortSignal;
}

/** Is shown some entries of a folder, which is held as long as that takes; says whether the walk goes on. */
type Visit = (entries: readonly Entry[], folder: Pin) => boolean | Promise<boolean>;

/** Bytes of one `.gitignore` that are looked at. */
const MAX_RULES_BYTES = 200_000;

/** One walk; folders that may not be read are passed over, and counted. */
export class Walk {
  readonly #options: WalkOptions;
  readonly #allowed: Allowed;
  readonly #visit: Visit;
  /** Folders that could not be looked into. */
  unreadable = 0;

  constructor(options: WalkOptions, allowed: Allowed, visit: Visit) {
    this.#options = options;
    this.#allowed = allowed;
    this.#visit = visit;
  }

  /** @returns false where a visit ended it */
  async through(folder: Pin, roots: Roots): Promise<boolean> {
    const rules = this.#options.includeIgnored ? undefined : await this.#rulesOnTheWayTo(folder, roots);
    return this.#folder(folder, [], rules);
  }

  /** The rules of the folders that this one is in, from the one that may be used. */
  async #rulesOnTheWayTo(folder: Pin, roots: Roots): Promise<IgnoreRules> {
    const root = roots.rootOf(folder.real) ?? folder.real;
    const names = relative(root, folder.real).split(sep).filter(Boolean);
    let rules: IgnoreRules | undefined;
    let path = root;
    for (const name of [undefined, ...names]) {
      if (name !== undefined) path = join(path, name);
      const text = await withPin(path, roots, (pin) => this.#rulesText(pin)).catch(() => "");
      rules = rules === undefined ? IgnoreRules.outermost(text) : rules.inFolder(name as string, text);
    }
    return rules as IgnoreRules;
  }

  async #folder(folder: Pin, names: readonly string[], rules: IgnoreRules | undefined): Promise<boolean> {
    const inner: string[] = [];
    for await (const found of entriesOf(folder)) {
      this.#options.signal.throwIfAborted();
      const entries = found.map((entry) => ({ name: entry.name, type: typeOf(entry) }));
      const kept = entries.filter(({ name, type }) => !rules?.ignores(name, type === "directory"));
      if (names.length + 1 < this.#options.depth) {
        for (const { name, type } of kept) if (type === "directory") inner.push(name);
      }
      if (kept.length === 0) continue;
      const shown = kept.map(({ name, type }) => ({ name, type, names: [...names, name] }));
      if (!(await this.#visit(shown, folder))) return false;
    }
    for (const name of inner.sort()) {
      if (!(await this.#inner(folder, name, [...names, name], rules))) return false;
    }
    return true;
  }

  async #inner(
    folder: Pin,
    name: string,
    names: readonly string[],
    rules: IgnoreRules | undefined,
  ): Promise<boolean> {
    let entered = false;
    try {
      return await withChild(folder, name, async (pin) => {
        const own = rules?.inFolder(name, await this.#rulesText(pin));
        entered = true;
        return this.#folder(pin, names, own);
      });
    } catch (error) {
      // It is gone, or a link now, or not ours to look into. What fails within it, once it was entered, says more than that.
      if (entered && !["EACCES", "ENOENT"].includes(codeOf(error) ?? "")) throw error;
      this.unreadable++;
      return true;
    }
  }

  async #rulesText(folder: Pin): Promise<string> {
    const opened = await openEntry(folder, ".gitignore", this.#allowed);
    if (opened === undefined) return "";
    try {
      const bytes = Buffer.alloc(Math.min(opened.size, MAX_RULES_BYTES));
      return lenientUtf8(bytes.subarray(0, await opened.readAt(bytes, 0)));
    } finally {
      opened.close();
    }
  }
}

export function typeOf(entry: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">): EntryType {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "other";
}
