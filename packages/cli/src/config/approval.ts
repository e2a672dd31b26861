/** What the user has agreed to of a folder's own `mcp.json`: whoever changes that file later must not start what they like. */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readSmallFile } from "../file.ts";
import { visibleLine, visibleName } from "../visible.ts";
import { type Named, userConfigFile } from "./config.ts";
import { isRecord } from "./schema.ts";

/** How an entry compares with the one that the user agreed to. */
export type Standing = { is: "approved" | "new" } | { is: "changed"; keys: string[] };

/** What has no part in what is started or reached. */
const HARMLESS = ["timeout", "disabled"];

/** Compares a server's entry with the approved one. Only digests are kept: what an entry says may be secret. */
export function standingOf(named: Named, environment: NodeJS.ProcessEnv = process.env): Standing {
  const before = readDigests(approvalFile(named, environment));
  if (before === undefined) return { is: "new" };
  const now = digestsOf(named);
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (key) => before[key] !== now[key],
  );
  return keys.length === 0 ? { is: "approved" } : { is: "changed", keys };
}

/** Remembers an entry as it is now; where nothing can be written, it is asked for again. */
export function approve(named: Named, environment: NodeJS.ProcessEnv = process.env): void {
  const file = approvalFile(named, environment);
  const partial = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(partial, JSON.stringify(digestsOf(named)), { mode: 0o600 });
    renameSync(partial, file);
  } catch {
    if (existsSync(partial)) rmSync(partial);
  }
}

/** What an entry does, in lines for the user: the program or the URL, and which variables it is given. */
export function described({ name, shownFile, entry }: Named): string {
  const what =
    "command" in entry
      ? `starts ${visibleLine([entry.command, ...(entry.args ?? [])].join(" "))}`
      : `connects to ${visibleLine(entry.url.replace(/\/\/[^/?#]*@/, "//").replace(/\?.*/s, "?…"))}`;
  const given = new Set<string>(Object.keys(("command" in entry ? entry.env : entry.headers) ?? {}));
  for (const [, variable = ""] of JSON.stringify(entry).matchAll(
    /\$\{(?:env:)?([A-Za-z_]\w*)(?::-[^}]*)?\}/g,
  ))
    given.add(variable);
  const names = given.size === 0 ? "" : `, given ${visibleLine([...given].join(", "))}`;
  return `${shownFile}: "${visibleName(name)}" ${what}${names}`;
}

/** One file for each server: two processes that approve two servers lose nothing. */
function approvalFile({ file, name }: Named, environment: NodeJS.ProcessEnv): string {
  return join(dirname(userConfigFile(environment)), "approved", `${digest([file, name])}.json`);
}

function digestsOf({ entry }: Named): Record<string, string> {
  return Object.fromEntries(
    Object.entries(entry)
      .filter(([key]) => !HARMLESS.includes(key))
      .map(([key, value]) => [key, digest(value)]),
  );
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

function readDigests(file: string): Record<string, unknown> | undefined {
  try {
    const content: unknown = JSON.parse(readSmallFile(file));
    return isRecord(content) ? content : {};
  } catch (thrown) {
    // What is there and cannot be read approves nothing.
    return ["ENOENT", "ENOTDIR"].includes((thrown as NodeJS.ErrnoException).code ?? "") ? undefined : {};
  }
}
