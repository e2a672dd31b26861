/** Finds, reads and joins the configuration files. */

import { homedir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { usage } from "../failure.ts";
import { readSmallFile } from "../file.ts";
import { type Hidden, secretsOf } from "../secrets.ts";
import { visibleLine, visibleName } from "../visible.ts";
import { expand } from "./expand.ts";
import type { ServerEntry } from "./schema.ts";

/** The servers that the configuration names, as they stand in the files. */
export interface Config {
  names: string[];
  warnings: string[];
  /**
   * One server's entry with its variables put in, and its `cwd` made absolute.
   *
   * @throws Failure (usage) that names an unset variable and its place
   */
  server(name: string): ServerEntry | undefined;
  /** What no message may show of a server that was asked for. */
  hidden: readonly Hidden[];
}

/** The user's own file, read after the project's. */
export function userConfigFile(environment: NodeJS.ProcessEnv = process.env): string {
  const base =
    process.platform === "win32"
      ? (environment.APPDATA ?? join(homedir(), "AppData", "Roaming"))
      : environment.XDG_CONFIG_HOME || join(homedir(), ".config");
  return join(base, "patchbay", "mcp.json");
}

/**
 * Reads `file`, or else `mcp.json` in the working directory and then the user's; the first to name a server wins.
 * Folders above are not searched: a file that somebody else put there must not start programs.
 *
 * @throws Failure (usage) that names the file, the place and what to do
 */
export async function readConfig(file?: string): Promise<Config> {
  const files = file === undefined ? [resolve("mcp.json"), userConfigFile()] : [resolve(file)];
  const found = new Map<string, { entry: ServerEntry; file: string }>();
  const warnings: string[] = [];
  for (const path of new Set(files)) {
    const text = readText(path, file !== undefined);
    if (text === undefined) continue;
    const { review } = await import("./schema.ts");
    const shown = shownPath(path);
    const { servers, errors, warnings: odd } = review(parse(text, shown));
    if (errors.length > 0) throw usage(errors.map((error) => `${shown}: ${error}.`).join("\n"));
    warnings.push(...odd.map((warning) => `${shown}: ${warning}`));
    for (const [name, entry] of servers) if (!found.has(name)) found.set(name, { entry, file: path });
  }
  const hidden: Hidden[] = [];
  return {
    hidden,
    names: [...found.keys()],
    warnings,
    server(name) {
      const named = found.get(name);
      if (named === undefined) return undefined;
      const used = new Map<string, string>();
      const place = `${shownPath(named.file)}: mcpServers.${visibleName(name)}`;
      const entry = expand(named.entry, place, process.env, used);
      hidden.push(...secretsOf(entry, used));
      return "command" in entry && entry.cwd !== undefined
        ? { ...entry, cwd: resolve(dirname(named.file), entry.cwd) }
        : entry;
    },
  };
}

function readText(path: string, mustExist: boolean): string | undefined {
  try {
    return readSmallFile(path);
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (!mustExist && (code === "ENOENT" || code === "ENOTDIR")) return undefined;
    const why =
      code === undefined
        ? `${message}; a configuration is a regular file of at most 1 MiB`
        : code === "ENOENT"
          ? "there is no such file"
          : `it cannot be read (${code})`;
    throw usage(`${shownPath(path)}: ${why}.`);
  }
}

function parse(text: string, shown: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (thrown) {
    throw usage(
      `${shown}: not JSON: ${visibleLine((thrown as Error).message)}. Comments and trailing commas are not allowed.`,
    );
  }
}

/** Relative where that is shorter to read. */
function shownPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith("..") ? path : near;
}
