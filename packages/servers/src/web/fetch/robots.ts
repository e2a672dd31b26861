/** robots.txt (RFC 9309): what a site asks programs to leave alone. */

interface Rule {
  allow: boolean;
  /** The parts between the `*` of a pattern. */
  parts: string[];
  /** Whether the pattern reaches to the end of the path (`$`). */
  toEnd: boolean;
  length: number;
}

/** What a site's robots.txt says to one program. */
export type Rules = readonly Rule[];

/** Bytes of a robots.txt that are read; the rest is left (RFC 9309, 2.5). */
export const MAX_ROBOTS_BYTES = 500 * 1024;

/**
 * Reads a robots.txt.
 *
 * @param program the product token that its groups name, such as `patchbay`
 */
export function parseRobots(text: string, program: string): Rules {
  const own: Rule[] = [];
  const others: Rule[] = [];
  let isNamed = false;
  // A group may name a program many times.
  let group = new Set<Rule[]>();
  let inAgents = false;
  for (const line of text.split(/\r\n?|\n/)) {
    const [, field = "", value = ""] = /^\s*([\w-]+)\s*:\s*([^#]*)/.exec(line) ?? [];
    const key = field.toLowerCase();
    if (key === "user-agent") {
      if (!inAgents) group = new Set();
      inAgents = true;
      const agent = value.trim().toLowerCase();
      if (agent === program.toLowerCase()) {
        isNamed = true;
        group.add(own);
      } else if (agent === "*") group.add(others);
    } else if (key === "allow" || key === "disallow") {
      inAgents = false;
      const pattern = value.trim();
      if (pattern !== "") for (const rules of group) rules.push(ruleOf(key === "allow", pattern));
    }
  }
  return isNamed ? own : others;
}

/** Whether a path may be asked for: the longest pattern that fits decides, and `allow` among equals. */
export function allows(rules: Rules, { pathname, search }: URL): boolean {
  const path = normal(pathname + search);
  let best: Rule | undefined;
  for (const rule of rules) {
    const wins =
      best === undefined || rule.length > best.length || (rule.length === best.length && rule.allow);
    if (wins && fits(rule, path)) best = rule;
  }
  return best?.allow ?? true;
}

function ruleOf(allow: boolean, pattern: string): Rule {
  const toEnd = pattern.endsWith("$");
  const parts = normal(toEnd ? pattern.slice(0, -1) : pattern).split(/\*+/);
  return { allow, parts, toEnd, length: pattern.length };
}

/** Each part is looked for behind the last, at its first place: no pattern makes this take long. */
function fits({ parts, toEnd }: Rule, path: string): boolean {
  const [first = "", ...rest] = parts;
  if (!path.startsWith(first)) return false;
  const last = toEnd ? (rest.pop() ?? undefined) : undefined;
  let position = first.length;
  for (const part of rest) {
    const found = path.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  if (!toEnd) return true;
  return last === undefined
    ? position === path.length
    : path.length - last.length >= position && path.endsWith(last);
}

/** One spelling for one path: what need not be escaped is not, and escapes are in capitals. */
function normal(path: string): string {
  return path.replace(/[^\x21-\x7e]/gu, encodeURIComponent).replace(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : code.toUpperCase();
  });
}
