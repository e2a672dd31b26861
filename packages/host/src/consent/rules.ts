/** Rules that say without asking which tools may run. */

import { posix } from "node:path";
import { canonicalJson, type JsonObject } from "@patchbay/core";
import { HostError } from "../errors.ts";

/**
 * Patterns over `server/tool`, where `*` stands for any characters: `weather/*`, `files/read_*`, `*` for all. Arguments
 * may be part of it: `shell/run(command=git *)`, `web/web_fetch(url=https://example.com/*)`.
 *
 * `deny` comes first, then `ask`, then `allow`; where none fits, a read-only tool of an approved server may run, and
 * others ask.
 */
export interface ApprovalRules {
  allow?: readonly string[];
  ask?: readonly string[];
  deny?: readonly string[];
}

/** What the rules say of a call, and the pattern that says it. */
export interface Verdict {
  effect: "allow" | "ask" | "deny";
  pattern: string;
}

export interface Called {
  server: string;
  tool: string;
  arguments: JsonObject;
}

interface Pattern {
  text: string;
  name: string;
  arguments: [name: string, value: string][];
}

const EFFECTS = ["deny", "ask", "allow"] as const;

/**
 * Reads rules.
 *
 * @throws HostError `configuration` that names the pattern that is none
 */
export function readRules(rules: ApprovalRules): (called: Called) => Verdict | undefined {
  const read = EFFECTS.map((effect) => ({ effect, patterns: (rules[effect] ?? []).map(readPattern) }));
  return (called) => {
    for (const { effect, patterns } of read) {
      const fitting = patterns.find((pattern) => fits(pattern, called, effect === "allow"));
      if (fitting !== undefined) return { effect, pattern: fitting.text };
    }
    return undefined;
  };
}

function readPattern(text: string): Pattern {
  const open = text.indexOf("(");
  const name = (open === -1 ? text : text.slice(0, open)).trim();
  const inside = open === -1 ? "" : text.slice(open + 1, -1);
  const pairs = inside === "" ? [] : inside.split(/,(?=\s*[\w.-]+=)/).map((pair) => pair.trim());
  const fine =
    name !== "" && (open === -1 || text.endsWith(")")) && pairs.every((pair) => /^[^=]+=/.test(pair));
  if (!fine) {
    throw new HostError(
      "configuration",
      `The approval rule ${JSON.stringify(text)} is none; it takes server/tool or server/tool(argument=value), with * for any characters.`,
    );
  }
  return {
    text,
    name: name === "*" || name.includes("/") ? name : `${name}/*`,
    arguments: pairs.map((pair) => {
      const equals = pair.indexOf("=");
      return [pair.slice(0, equals).trim(), pair.slice(equals + 1)];
    }),
  };
}

function fits(pattern: Pattern, { server, tool, arguments: given }: Called, isAllow: boolean): boolean {
  if (!matches(pattern.name, `${server}/${tool}`)) return false;
  return pattern.arguments.every(([name, wanted]) => {
    if (!Object.hasOwn(given, name)) return false;
    const value = given[name];
    const text = typeof value === "string" ? value : canonicalJson(value);
    if (isAllow) return matches(wanted, text) && (!wanted.includes("*") || isPlain(text));
    return matches(wanted, text) || matches(wanted, posix.normalize(text));
  });
}

/**
 * Whether a value is no more than it begins as: a command that others follow, or a path that leads up again, would get
 * more than a pattern with `*` means to allow.
 */
function isPlain(text: string): boolean {
  if (/(^|[/\\])(\.|%2e){2}([/\\]|$)/i.test(text)) return false;
  return /^https?:\/\/[^\s\\]*$/i.test(text) || !/[;&|<>$`\p{Cc}]/u.test(text);
}

/** Whether text is what a pattern with `*` says; linear, whatever it says. */
function matches(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return text === first;
  const last = rest.pop() ?? "";
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last))
    return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}
