/** The server that `serve` was told to serve: a built-in, or what a module exports. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { nearest } from "@patchbay/core";
import type { McpServer } from "@patchbay/server";
import { builtins, SettingsError } from "@patchbay/servers";
import { shownPath } from "../config/config.ts";
import { failed, usage } from "../failure.ts";
import type { Output } from "../output.ts";
import type { Told } from "./builtin-commands.ts";

/** The server that is wanted, and what the command line says to it. */
export interface Wanted {
  name: string;
  told: Told | undefined;
}

/**
 * @throws Failure that says what the name, the module or the settings of a built-in lack
 */
export async function load({ name, told }: Wanted, output: Output): Promise<McpServer> {
  const builtin = builtins.get(name);
  if (builtin !== undefined) {
    try {
      return await builtin.load({ ...told, warn: (text) => output.warn(text) });
    } catch (thrown) {
      throw thrown instanceof SettingsError ? usage(`${name}: ${thrown.message}.`) : thrown;
    }
  }
  if (!isModule(name)) {
    const names = [...builtins.keys()];
    throw usage(
      `There is no built-in server "${name}". There are: ${names.join(", ")}. A module is written with its path: ./${name}.js.`,
      nearest(name, names),
    );
  }
  const file = resolve(name);
  if (!existsSync(file)) throw usage(`${name}: there is no such file.`);
  let exported: Record<string, unknown>;
  try {
    exported = await import(pathToFileURL(file).href);
  } catch (thrown) {
    throw failed(`${name} could not be loaded: ${await where(thrown, file)}`);
  }
  const servers = new Set(Object.values(exported).filter(isServer));
  const [only] = servers;
  if (only !== undefined && servers.size === 1) return only;
  const found = servers.size === 0 ? "exports no McpServer" : `exports ${servers.size} servers`;
  throw usage(`${name} ${found}. Export one: export const server = new McpServer({ name, version }).`);
}

/** What a module threw, with the file and the line: the first of its own, else of what it imports; no stack. */
async function where(thrown: unknown, file: string): Promise<string> {
  if (!(thrown instanceof Error)) return String(thrown);
  const message = `${thrown.name === "Error" ? "" : `${thrown.name}: `}${thrown.message}`;
  const places = [...(thrown.stack ?? "").matchAll(/(file:\/\/[^\s()]+?):(\d+:\d+)(?=[\s)]|$)/g)];
  const ours = fileURLToPath(new URL(".", import.meta.url));
  const own = places
    .map(([, url = "", at = ""]) => [fileURLToPath(url), at] as const)
    .filter(([path]) => !path.startsWith(ours));
  const [path, at] = own.find(([path]) => !path.includes("node_modules")) ?? own[0] ?? [];
  if (path !== undefined) return `${shownPath(path)}:${at}: ${message}`;
  const line = thrown.name === "SyntaxError" ? await lineOfSyntaxError(file) : undefined;
  return line === undefined ? message : `${shownPath(file)}:${line}: ${message}`;
}

/** Node tells where a syntax error is to nobody but a program's user. Nothing of the file is run. */
function lineOfSyntaxError(file: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(process.execPath, ["--check", file], (_, __, stderr) => {
      const [first = ""] = stderr.split("\n");
      resolve(/:(\d+)$/.exec(first)?.[1]);
    });
  });
}

/** By its methods: a module may bring its own copy of the package. */
function isServer(value: unknown): value is McpServer {
  const { serve, handle, tool } = (value ?? {}) as Partial<McpServer>;
  return [serve, handle, tool].every((method) => typeof method === "function");
}

function isModule(name: string): boolean {
  return /[\\/]/.test(name) || /\.[cm]?[jt]s$/.test(name);
}
