/** Patterns of names, as `.gitignore` has them, matched without regular expressions: no pattern makes it run away. */

const MAX_PATTERN = 1000;
const MAX_ALTERNATIVES = 64;

/** One character of a name, or what stands for some. */
type Token =
  | { any: "one" | "many" }
  | { char: string }
  | { set: readonly [from: string, to: string][]; negated: boolean };
/** One name of a path, or any number of names. */
type Segment = "**" | readonly Token[];

/** A pattern made ready. */
export type Glob = readonly Segment[];

/**
 * Reads a pattern: `*`, `?`, `[a-z]`, `\` before what is meant as it is, and `**` for any number of folders.
 *
 * @throws Error when it is too long
 */
export function parseGlob(pattern: string): Glob {
  if (pattern.length > MAX_PATTERN) throw new Error(`a pattern has at most ${MAX_PATTERN} characters`);
  return pattern
    .split("/")
    .filter((segment) => segment !== "")
    .map((segment) => (segment === "**" ? segment : tokensOf(segment)));
}

/** The patterns that one with alternatives stands for: `*.{ts,tsx}` is `*.ts` and `*.tsx`. */
export function alternatives(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [all, before = "", inside = "", after = ""] = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(next) ?? [];
    if (all === undefined) done.push(next);
    else
      open.push(
        ...inside
          .split(",")
          .map((each) => before + each + after)
          .reverse(),
      );
    if (done.length + open.length > MAX_ALTERNATIVES)
      throw new Error(`a pattern stands for at most ${MAX_ALTERNATIVES} alternatives`);
  }
  return done;
}

/** Whether a pattern is that of a path, given by its names. */
export function matchesGlob(glob: Glob, names: readonly string[]): boolean {
  return matches(
    glob,
    names,
    (segment) => segment === "**",
    (segment, name) => matches(segment as readonly Token[], [...name], isMany, isChar),
  );
}

/** Goes back to the last part that stands for many only: that is enough, and takes no more than one by the other. */
function matches<Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  standsForMany: (part: Part) => boolean,
  fits: (part: Part, item: Item) => boolean,
): boolean {
  let part = 0;
  let item = 0;
  let many = -1;
  let resume = 0;
  while (item < items.length) {
    const current = parts[part];
    if (current !== undefined && standsForMany(current)) {
      many = part++;
      resume = item;
    } else if (current !== undefined && fits(current, items[item] as Item)) {
      part++;
      item++;
    } else if (many !== -1) {
      part = many + 1;
      item = ++resume;
    } else return false;
  }
  while (part < parts.length && standsForMany(parts[part] as Part)) part++;
  return part === parts.length;
}

function isMany(token: Token): boolean {
  return "any" in token && token.any === "many";
}

function isChar(token: Token, char: string): boolean {
  if ("any" in token) return true;
  if ("char" in token) return token.char === char;
  return token.set.some(([from, to]) => from <= char && char <= to) !== token.negated;
}

function tokensOf(segment: string): Token[] {
  const chars = [...segment];
  const tokens: Token[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] as string;
    const set = char === "[" ? setAt(chars, at) : undefined;
    if (set !== undefined) {
      tokens.push(set.token);
      at = set.end;
    } else if (char === "*") tokens.push({ any: "many" });
    else if (char === "?") tokens.push({ any: "one" });
    else if (char === "\\" && at + 1 < chars.length) tokens.push({ char: chars[++at] as string });
    else tokens.push({ char });
  }
  return tokens;
}

/** `[a-z]`, `[!a]`; nothing where the bracket is not closed, and means itself. */
function setAt(chars: readonly string[], start: number): { token: Token; end: number } | undefined {
  let at = start + 1;
  const negated = chars[at] === "!" || chars[at] === "^";
  if (negated) at++;
  const set: [string, string][] = [];
  for (let first = true; at < chars.length; first = false, at++) {
    if (chars[at] === "]" && !first) return { token: { set, negated }, end: at };
    if (chars[at] === "\\") at++;
    const from = chars[at];
    if (from === undefined) return undefined;
    const to = chars[at + 1] === "-" && chars[at + 2] !== "]" ? chars[at + 2] : undefined;
    if (to !== undefined) at += 2;
    set.push([from, to ?? from]);
  }
  return undefined;
}
