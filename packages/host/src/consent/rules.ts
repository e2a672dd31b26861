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
  if (!isNamed(pattern.name, server, tool)) return false;
  return pattern.arguments.every(([name, wanted]) => {
    if (!Object.hasOwn(given, name)) return false;
    const value = given[name];
    const text = typeof value === "string" ? value : canonicalJson(value);
    if (isAllow) return isMeant(wanted, text);
    return spellings(text).some((each) => matches(wanted, each));
  });
}

/** What stands before one of a pattern's slashes is the server, what follows it the tool: either may have slashes. */
function isNamed(pattern: string, server: string, tool: string): boolean {
  if (pattern === "*") return true;
  for (let at = pattern.indexOf("/"); at !== -1; at = pattern.indexOf("/", at + 1)) {
    if (matches(pattern.slice(0, at), server) && matches(pattern.slice(at + 1), tool)) return true;
  }
  return false;
}

/** A text, and what a path or a URL comes to: what is denied is not to be had by writing it otherwise. */
function spellings(text: string): string[] {
  const all = [text, posix.normalize(text)];
  if (!URL.canParse(text)) return all;
  const url = new URL(text);
  url.username = "";
  url.password = "";
  return [...all, url.href, url.href.replace(/\/$/, "")];
}

const HOST = /^([a-z*][a-z\d+.*-]*):\/\/([^/?#\s]*)/i;

/** Whether a value is what a pattern means to allow. In a URL a `*` before its path stands for no more than a host's part. */
function isMeant(wanted: string, text: string): boolean {
  if (!wanted.includes("*")) return text === wanted;
  if (!matches(wanted, text) || !isPlain(text)) return false;
  const [, wantedScheme = "", wantedHost] = HOST.exec(wanted) ?? [];
  if (wantedHost === undefined) return true;
  const [, scheme = "", host = ""] = HOST.exec(text) ?? [];
  // Nobody who writes `https://example.com*` means example.com.eve.example.
  const whole = wantedHost.replace(/(?<=[\w-])\*$/, "");
  return (
    matches(wantedScheme, scheme) && matches(whole, host) && (!host.includes("@") || whole.includes("@"))
  );
}

/**
 * Whether a value is no more than it begins as: a command that others follow, or a path that leads up again, would get
 * more than a pattern with `*` means to allow.
 */
function isPlain(text: string): boolean {
  if (/(^|[/\\]|%2f|%5c)(\.|%2e){2}([/\\]|%2f|%5c|$)/i.test(text)) return false;
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
