/** Finds, reads and joins the configuration files. */

import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { parseEnv } from "node:util";
import { usage } from "../failure.ts";
import { readSmallFile } from "../file.ts";
import { type Hidden, secretsOf } from "../secrets.ts";
import { visibleLine, visibleName } from "../visible.ts";
import { expand, inputsIn, type Scope } from "./expand.ts";
import { type AskInput, withoutAsking } from "./inputs.ts";
import { type JsonError, parseJson } from "./jsonc.ts";
import type { Input, Review, ServerEntry } from "./schema.ts";

/** One server of a configuration, as its file has it. */
export interface Named {
  name: string;
  /** An absolute path, and how it is told to the user. */
  file: string;
  shownFile: string;
  /** Whether it is a file of the working directory, which others may have written. */
  ofFolder: boolean;
  /** Its variables are not put in. */
  entry: ServerEntry;
  /** Where it stands, as errors name it: `mcp.json: mcpServers.github`. */
  place: string;
}

/** The servers that the configuration names. */
export interface Config {
  /** Those that are not disabled. */
  names: string[];
  /** All of them, the disabled ones too. */
  servers: ReadonlyMap<string, Named>;
  /** The files that were read, as they are shown. */
  files: string[];
  warnings: string[];
  /**
   * One server's entry with its variables put in, and its `cwd` made absolute.
   *
   * @param ask asks the user for what stands under `inputs`; without it only defaults are taken
   * @throws Failure (usage) that names an unset variable and its place
   */
  server(name: string, ask?: AskInput): Promise<ServerEntry | undefined>;
  /** What the files say of tools, together. What a folder's own file allows does not count: others may have written it. */
  approvals: { allow: string[]; ask: string[]; deny: string[] };
  /** Folders in which servers may work: absolute paths. */
  roots: string[];
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
  const ofFolder = resolve("mcp.json");
  const files = file === undefined ? [ofFolder, userConfigFile()] : [resolve(file)];
  const servers = new Map<string, Named>();
  const inputs = new Map<string, ReadonlyMap<string, Input>>();
  const warnings: string[] = [];
  const approvals: Config["approvals"] = { allow: [], ask: [], deny: [] };
  const roots: string[] = [];
  for (const path of new Set(files)) {
    const text = readText(path, file !== undefined);
    if (text === undefined) continue;
    const shownFile = shownPath(path);
    const { key, ...review } = await reviewText(text, shownFile);
    warnings.push(...review.warnings.map((warning) => `${shownFile}: ${warning}`));
    inputs.set(path, review.inputs);
    const { allow = [], ask = [], deny = [] } = review.approvals;
    approvals.ask.push(...ask);
    approvals.deny.push(...deny);
    if (file !== undefined || path !== ofFolder) approvals.allow.push(...allow);
    else if (allow.length > 0)
      warnings.push(`${shownFile}: approvals.allow counts in your own mcp.json, or with --config, not here`);
    const scope = {
      environment: process.env,
      workspaceFolder: workspaceOf(path, ofFolder),
      inputs: new Map(),
      used: new Map(),
    };
    roots.push(
      ...expand(review.roots, `${shownFile}: roots`, scope).map((root) => resolve(dirname(path), root)),
    );
    for (const [name, entry] of review.servers) {
      const place = `${shownFile}: ${key}.${visibleName(name)}`;
      const about = {
        name,
        file: path,
        shownFile,
        ofFolder: file === undefined && path === ofFolder,
        entry,
        place,
      };
      if (!servers.has(name)) servers.set(name, about);
    }
  }
  const hidden: Hidden[] = [];
  const answers = new Map<string, Promise<string>>();
  return {
    hidden,
    servers,
    approvals,
    roots,
    files: [...inputs.keys()].map(shownPath),
    names: [...servers.values()].filter(({ entry }) => entry.disabled !== true).map(({ name }) => name),
    warnings,
    async server(name, ask) {
      const named = servers.get(name);
      if (named === undefined) return undefined;
      const { entry, file: path, place } = named;
      if (entry.disabled === true) throw usage(`${place} is disabled: remove "disabled" to use it.`);
      const answered = await answer(named, inputs.get(path), answers, ask);
      const scope = {
        environment: process.env,
        workspaceFolder: workspaceOf(path, ofFolder),
        inputs: answered,
        used: new Map<string, string>(),
      };
      const expanded = expand(entry, place, scope);
      hidden.push(...secretsOf(expanded, scope.used));
      return "command" in expanded ? settled(expanded, named, scope, hidden) : expanded;
    },
  };
}

/**
 * Reads and checks the text of one file.
 *
 * @param shown the file, as errors name it
 * @throws Failure (usage) with all that is wrong
 */
export async function reviewText(text: string, shown: string): Promise<Review> {
  const { review } = await import("./schema.ts");
  const reviewed = review(parsed(text, shown));
  if (reviewed.errors.length === 0) return reviewed;
  throw usage(reviewed.errors.map((error) => `${shown}: ${error}.`).join("\n"));
}

/** Everything that a started server's entry refers to, beside its file. */
function settled(
  { envFile, ...entry }: Extract<ServerEntry, { command: string }>,
  { file, place }: Named,
  scope: Scope,
  hidden: Hidden[],
): ServerEntry {
  const folder = envFile === undefined && entry.cwd === undefined ? "" : dirname(file);
  if (entry.cwd !== undefined) entry.cwd = resolve(folder, entry.cwd);
  if (envFile === undefined) return entry;
  let variables: Record<string, string>;
  try {
    variables = parseEnv(readSmallFile(resolve(scope.workspaceFolder, envFile))) as Record<string, string>;
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : (code ?? message);
    throw usage(`${place}.envFile: ${visibleLine(envFile)}: ${why}.`);
  }
  hidden.push(...Object.entries(variables).map(([name, value]): Hidden => [value, `[${name}]`]));
  return { ...entry, env: { ...variables, ...entry.env } };
}

/** The user is asked for each input once, however many servers want it. */
async function answer(
  { file, entry, place }: Named,
  inputs: ReadonlyMap<string, Input> = new Map(),
  answers: Map<string, Promise<string>>,
  ask: AskInput | undefined,
): Promise<Map<string, string>> {
  const answered = new Map<string, string>();
  for (const [id, at] of inputsIn(entry, place)) {
    const input = inputs.get(id);
    if (input === undefined) continue;
    const key = `${file}\n${id}`;
    const asked = answers.get(key) ?? (ask === undefined ? withoutAskingLater(input, at) : ask(input));
    answers.set(key, asked);
    answered.set(id, await asked);
  }
  return answered;
}

async function withoutAskingLater(input: Input, place: string): Promise<string> {
  return withoutAsking(input, place);
}

/** The folder that a file is about: where it lies, but not an editor's own folder in it; the user's is about here. */
function workspaceOf(file: string, ofFolder: string): string {
  if (file === userConfigFile()) return dirname(ofFolder);
  const folder = dirname(file);
  return [".vscode", ".cursor"].includes(basename(folder)) ? dirname(folder) : folder;
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

function parsed(text: string, shown: string): unknown {
  try {
    return parseJson(text);
  } catch (thrown) {
    const { message, place } = thrown as JsonError;
    const at = place === undefined ? "" : `:${place.line}:${place.column}`;
    throw usage(`${shown}${at}: not JSON: ${visibleLine(message)}.`);
  }
}

/** Relative where that is shorter to read. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith("..") ? path : near;
}
