/** What a user may name as a server → what a client connects to. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { nearest } from "@patchbay/core";
import { builtinNames } from "@patchbay/servers";
import { type Config, readConfig } from "./config/config.ts";
import type { Context, ServerOptions } from "./context.ts";
import { usage } from "./failure.ts";
import { secretsOfUrl, shownUrl } from "./secrets.ts";
import { visibleNames } from "./visible.ts";

/** A server by its name, and how it is reached. */
export interface Target {
  name: string;
  to:
    | { command: string; args?: string[]; env?: Record<string, string>; cwd?: string }
    | { url: string; headers?: Record<string, string> };
  /** Milliseconds for one request, where the configuration says so. */
  timeout?: number;
}

/**
 * Finds the server that a command is about: the words after `--`, a URL, a name of the configuration, or a built-in.
 * The configuration comes before the built-ins: what a user wrote down is what they mean.
 *
 * @throws Failure (usage) that lists the names and suggests the nearest
 */
export async function findTarget(
  name: string | undefined,
  options: ServerOptions,
  context: Context,
): Promise<Target> {
  if (context.command !== undefined) return started(context.command);
  if (name !== undefined && isUrl(name)) return byUrl(name, context);
  const config = await loadConfig(options, context);
  if (name === undefined) throw usage(`Which server? ${choices(config)}`);
  return named(name, config, context);
}

/** A server that was chosen by name; it is looked up when it is needed, so that each failure stands alone. */
export interface Choice {
  name: string;
  /** @throws Failure (usage) when there is no such server, or a variable in its entry is not set */
  find(): Target;
}

/**
 * The servers that a question may use: those named and the one after `--`, else all of the configuration,
 * else the calculator and the weather.
 */
export async function chooseServers(
  names: string[],
  options: ServerOptions,
  context: Context,
): Promise<Choice[]> {
  const { command } = context;
  const after = command === undefined ? [] : [{ name: command[0] ?? "--", find: () => started(command) }];
  if (names.length === 0 && after.length > 0) return after;
  const config = await loadConfig(options, context);
  const wanted = names.length > 0 ? names : config.names.length > 0 ? config.names : DEFAULT_SERVERS;
  const chosen = [...new Set(wanted)].map((name) => ({
    name,
    find: () => (isUrl(name) ? byUrl(name, context) : named(name, config, context)),
  }));
  return [...chosen, ...after];
}

/** Takes the server's name off the front of a command's words, unless the server comes after `--`. */
export function splitServer(words: string[], context: Context): [server: string | undefined, rest: string[]] {
  return context.command === undefined ? [words[0], words.slice(1)] : [undefined, words];
}

/** What answers a question where nothing else is configured. */
const DEFAULT_SERVERS = ["calculator", "weather"];

async function loadConfig(options: ServerOptions, context: Context): Promise<Config> {
  const config = await readConfig(options.config);
  for (const warning of config.warnings) context.output.warn(warning);
  return config;
}

/** Shown without what only the server should know. */
function byUrl(url: string, { output }: Context): Target {
  output.hide(secretsOfUrl(url));
  return { name: shownUrl(url), to: { url } };
}

function named(name: string, config: Config, { output }: Context): Target {
  const entry = config.server(name);
  output.hide(config.hidden);
  if (entry !== undefined) {
    const { timeout, ...to } = entry;
    return { name, to, timeout };
  }
  if (builtinNames.includes(name)) return { name, to: builtin(name) };
  if (existsSync(name)) {
    throw usage(
      `"${name}" is a file. To start it as a server, write the command after --, such as: -- node ${name}`,
    );
  }
  throw usage(
    `There is no server "${name}". ${choices(config)}`,
    nearest(name, [...config.names, ...builtinNames]),
  );
}

/** A built-in runs in a process of its own, as any other server would. */
function builtin(name: string): Target["to"] {
  return {
    command: process.execPath,
    args: [fileURLToPath(new URL("./main.js", import.meta.url)), "serve", name, "--stdio"],
  };
}

function started([command, ...args]: string[]): Target {
  if (command === undefined) throw usage("A command is missing after --, such as: -- node server.js");
  return { name: command, to: { command, args } };
}

function choices(config: Config): string {
  const own =
    config.names.length === 0 ? "" : `a name from the configuration (${visibleNames(config.names)}), `;
  return `It may be ${own}a built-in (${builtinNames.join(", ")}), a URL, or a command after --.`;
}

function isUrl(name: string): boolean {
  return /^https?:\/\//i.test(name);
}
