/** What git passes over: the rules of `.gitignore` files, each for its folder and what is in it (gitignore(5)). */

import { type Glob, matchesGlob, parseGlob } from "./glob.ts";

/** Rules of one file that are taken; more are passed over. */
const MAX_RULES = 1000;

interface Rule {
  readonly glob: Glob;
  readonly negated: boolean;
  readonly foldersOnly: boolean;
}

/** The rules that hold in a folder: its own, and those of the folders that it is in. */
export class IgnoreRules {
  readonly #outer: IgnoreRules | undefined;
  /** The names on the way to this folder, from where the outermost is. */
  readonly #names: readonly string[];
  readonly #rules: readonly Rule[];

  private constructor(outer: IgnoreRules | undefined, names: readonly string[], rules: readonly Rule[]) {
    this.#outer = outer;
    this.#names = names;
    this.#rules = rules;
  }

  /** Of a folder that is in no other. */
  static outermost(text: string): IgnoreRules {
    return new IgnoreRules(undefined, [], rulesOf(text));
  }

  /** Of a folder in this one. */
  inFolder(name: string, text: string): IgnoreRules {
    return new IgnoreRules(this, [...this.#names, name], rulesOf(text));
  }

  /** Whether an entry of this folder is passed over. */
  ignores(name: string, isFolder: boolean): boolean {
    if (name === ".git") return true;
    const path = [...this.#names, name];
    for (let at: IgnoreRules | undefined = this; at !== undefined; at = at.#outer) {
      const within = path.slice(at.#names.length);
      const rule = at.#rules.findLast(
        ({ glob, foldersOnly }) => (isFolder || !foldersOnly) && matchesGlob(glob, within),
      );
      if (rule !== undefined) return !rule.negated;
    }
    return false;
  }
}

function rulesOf(text: string): Rule[] {
  return text.split(/\r?\n/, MAX_RULES).flatMap((line) => ruleOf(line) ?? []);
}

function ruleOf(line: string): Rule | undefined {
  let pattern = line.replace(/(?<!\\) +$/, "");
  if (pattern === "" || pattern.startsWith("#")) return undefined;
  const negated = pattern.startsWith("!");
  if (negated) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  const anchored = pattern.slice(0, -1).includes("/");
  try {
    const glob = parseGlob(anchored ? pattern : `**/${pattern}`);
    // What is in a folder, and not the folder itself.
    const inside = glob.at(-1) === "**" ? [...glob, [{ any: "many" }] as const] : glob;
    return glob.length === 0 ? undefined : { glob: inside, negated, foldersOnly };
  } catch {
    return undefined;
  }
}
