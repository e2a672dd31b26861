/**
 * What the user has agreed to of a folder's own `mcp.json`: whoever changes that file later must not start what they like.
 * It is kept with all other approvals, so that no server is asked about twice.
 */

import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import type { ServerIdentity, TrustStore } from "@patchbay/host/consent";
import { shownUrl } from "../secrets.ts";
import { spelled, visibleLine, visibleName } from "../visible.ts";
import { type Named, userConfigFile } from "./config.ts";

/** How an entry compares with the one that the user agreed to. */
export type Standing =
  | { is: "approved" | "new" }
  /** The diff has lines that begin with `+`, `-` or a space. */
  | { is: "changed"; keys: string[]; diff: string };

/** What has no part in what is started or reached. */
const HARMLESS = ["timeout", "disabled"];

/** Where all approvals are kept. */
export function trustFile(environment: NodeJS.ProcessEnv = process.env): string {
  return join(dirname(userConfigFile(environment)), "trust.json");
}

/** What an entry says, before its variables are put in; of values that may be secret the digest alone. */
export function identityOf({ name, file, entry }: Named): ServerIdentity {
  const harmful = Object.entries(entry).filter(([key]) => !HARMLESS.includes(key));
  const digest = createHash("sha256")
    .update(JSON.stringify(harmful.sort(([a], [b]) => (a < b ? -1 : 1))))
    .digest("hex");
  const about = { name, file, origin: "configured", digest } as const;
  if ("url" in entry)
    return { ...about, url: shownUrl(entry.url), headers: Object.keys(entry.headers ?? {}) };
  const { command, args = [], env = {}, cwd } = entry;
  return { ...about, command, args, env: Object.keys(env), ...(cwd !== undefined && { cwd }) };
}

/** Compares a server's entry with the approved one. */
export async function standingOf(named: Named, environment = process.env): Promise<Standing> {
  const { identityDiff, trustKey } = await import("@patchbay/host/consent");
  const now = identityOf(named);
  const trusted = await (await storeOf(environment)).get(trustKey(now));
  if (trusted === undefined) return { is: "new" };
  const diff = identityDiff(trusted.identity, now);
  if (diff === "") return { is: "approved" };
  return { is: "changed", keys: changedKeys(trusted.identity, now), diff };
}

/**
 * Remembers an entry as it is now; what was said of the tools of another program does not hold for it.
 *
 * @throws Error where nothing can be written
 */
export async function approve(named: Named, environment = process.env): Promise<void> {
  const { identityDiff, trustKey } = await import("@patchbay/host/consent");
  const identity = identityOf(named);
  const store = await storeOf(environment);
  await store.update(trustKey(identity), (before) =>
    before !== undefined && identityDiff(before.identity, identity) === "" ? before : { identity },
  );
}

/** What an entry does, in lines for the user: the program or the URL, and which variables it is given. */
export function described({ name, shownFile, entry }: Named): string {
  const what =
    "command" in entry
      ? `starts ${visibleLine(spelled([entry.command, ...(entry.args ?? [])].join(" ")))}`
      : `connects to ${visibleLine(entry.url.replace(/\/\/[^/?#]*@/, "//").replace(/\?.*/s, "?…"))}`;
  const given = new Set<string>(Object.keys(("command" in entry ? entry.env : entry.headers) ?? {}));
  for (const [, variable = ""] of JSON.stringify(entry).matchAll(
    /\$\{(?:env:)?([A-Za-z_]\w*)(?::-[^}]*)?\}/g,
  ))
    given.add(variable);
  const names = given.size === 0 ? "" : `, given ${visibleLine([...given].join(", "))}`;
  return `${shownFile}: "${visibleName(name)}" ${what}${names}`;
}

async function storeOf(environment: NodeJS.ProcessEnv): Promise<TrustStore> {
  const { fileTrust } = await import("@patchbay/host/consent");
  return fileTrust(trustFile(environment));
}

function changedKeys(before: ServerIdentity, now: ServerIdentity): string[] {
  const keys = (["command", "args", "cwd", "env", "url", "headers"] as const).filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(now[key]),
  );
  return keys.length > 0 ? keys : ["values of variables or headers"];
}
