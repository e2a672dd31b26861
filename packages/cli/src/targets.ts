/** What a user may name as a server → what a client connects to. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { nearest } from "@patchbay/core";
import type { ServerIdentity } from "@patchbay/host/consent";
import { builtinNames, builtins } from "@patchbay/servers";
import { type Config, type Named, readConfig } from "./config/config.ts";
import type { Context, ServerOptions } from "./context.ts";
import { canAsk } from "./dialog.ts";
import { usage } from "./failure.ts";
import { type Hidden, secretsOfUrl, shownUrl } from "./secrets.ts";
import { spelled, visibleName, visibleNames } from "./visible.ts";

/** A server by its name, and how it is reached. */
export interface Target {
  name: string;
  to:
    | { command: string; args?: string[]; env?: Record<string, string>; cwd?: string }
    | { url: string; headers?: Record<string, string> };
  /** Milliseconds for one request, where the configuration says so. */
  timeout?: number;
  /** It comes with Patchbay. */
  builtin?: true;
  /** What a file says that it is. The user has agreed to that. */
  identity?: ServerIdentity;
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
  return named(name, config, options, context);
}

/** A server that was chosen by name; it is looked up when it is needed, so that each failure stands alone. */
export interface Choice {
  name: string;
  /** @throws Failure (usage) when there is no such server, or a variable in its entry is not set */
  find(): Promise<Target>;
}

/**
 * The servers that a question may use: those named and the one after `--`, else all of the configuration,
 * else the calculator and the weather.
 *
 * @param known the configuration, where it has been read already
 */
export async function chooseServers(
  names: string[],
  options: ServerOptions,
  context: Context,
  known?: Config,
): Promise<Choice[]> {
  const { command } = context;
  const after =
    command === undefined ? [] : [{ name: command[0] ?? "--", find: async () => started(command) }];
  if (names.length === 0 && after.length > 0) return after;
  const config = known ?? (await loadConfig(options, context));
  const wanted = names.length > 0 ? names : config.names.length > 0 ? config.names : DEFAULT_SERVERS;
  const chosen = [...new Set(wanted)].map((name) => ({
    name,
    find: async () => (isUrl(name) ? byUrl(name, context) : named(name, config, options, context)),
  }));
  return [...chosen, ...after];
}

/** Takes the server's name off the front of a command's words, unless the server comes after `--`. */
export function splitServer(words: string[], context: Context): [server: string | undefined, rest: string[]] {
  return context.command === undefined ? [words[0], words.slice(1)] : [undefined, words];
}

/** What answers a question where nothing else is configured. */
const DEFAULT_SERVERS = ["calculator", "weather"];

export async function loadConfig(options: ServerOptions, context: Context): Promise<Config> {
  const config = await readConfig(options.config);
  for (const warning of config.warnings) context.output.warn(warning);
  return config;
}

/** Shown without what only the server should know. */
function byUrl(url: string, { output }: Context): Target {
  output.hide(secretsOfUrl(url));
  return { name: shownUrl(url), to: { url } };
}

async function named(
  name: string,
  config: Config,
  options: ServerOptions,
  context: Context,
): Promise<Target> {
  const { output } = context;
  const written = config.servers.get(name);
  if (written !== undefined) {
    if (written.ofFolder && written.entry.disabled !== true) await agreed(written, options, context);
    const entry = await config.server(name, asking(context));
    output.hide(config.hidden);
    const { timeout, disabled: _, ...to } = entry as NonNullable<typeof entry>;
    const { identityOf } = await import("./config/approval.ts");
    return { name, to, timeout, identity: identityOf(written) };
  }
  if (builtinNames.includes(name)) return { name, to: builtin(name, output), builtin: true };
  if (existsSync(name)) {
    throw usage(
      `"${name}" is a file. To start it as a server, write the command after --, such as: -- node ${name}`,
    );
  }
  const address = ADDRESS.exec(name);
  if (address !== null) {
    const [, host = ""] = address;
    const url = `${/^\[|^[\d.]+$|^[^.]+$/.test(host) ? "http" : "https"}://${name}`;
    output.hide(secretsOfUrl(url));
    throw usage(`"${visibleName(name)}" is no URL yet: it begins with http:// or https://.`, shownUrl(url));
  }
  throw usage(
    `There is no server "${name}". ${choices(config)}`,
    nearest(name, [...config.names, ...builtinNames]),
  );
}

/** `localhost:3000/mcp`, `mcp.example.com/mcp`, `[::1]:80`: a URL but for its scheme. */
const ADDRESS =
  /^(localhost|[a-z\d.-]+(?=:\d)|[a-z\d-]+(?:\.[a-z\d-]+)+(?=[/?])|\[[a-f\d:.]+\])(?::\d{1,5})?(?:[/?].*)?$/i;

/** How the user is asked for the inputs of a configuration; nobody is asked for what a program reads. */
function asking({ output, signal }: Context) {
  if (!canAsk() || output.json) return undefined;
  return async (input: Parameters<typeof import("./config/inputs.ts").askInput>[0]) =>
    (await import("./config/inputs.ts")).askInput(input, signal);
}

/**
 * A folder's own `mcp.json` may be another's. The user sees what it starts or reaches before it does for the first time, and
 * again when that has changed. Without a terminal what is new needs `--yes`, and what has changed is refused.
 */
async function agreed(written: Named, { yes }: ServerOptions, context: Context): Promise<void> {
  const { approve, described, standingOf } = await import("./config/approval.ts");
  const standing = await standingOf(written);
  if (standing.is === "approved") return;
  const isChanged = standing.is === "changed";
  const ask = asking(context);
  if (ask !== undefined && (isChanged || yes !== true)) {
    const changed = isChanged
      ? `\nIt has changed since you agreed to it:\n${spelled(standing.diff).replaceAll(/^/gm, "  ")}`
      : "";
    const answer = await ask({
      id: "agree",
      type: "pickString",
      description: `${described(written)}${changed}\nAgree?`,
      options: ["yes", "no"],
      default: "no",
    });
    if (answer !== "yes") throw usage(`${written.place}: you did not agree to it.`);
  } else if (isChanged || yes !== true) {
    const why = isChanged
      ? `it has changed since you agreed to it (${standing.keys.join(", ")})`
      : "it is a folder's own, and you have not agreed to it";
    throw usage(
      `${written.place}: ${why}. ` +
        `See what it does, and agree: patchbay approve ${visibleName(written.name)}${isChanged ? "" : " (or --yes)"}`,
    );
  }
  // Where nothing can be written, it is asked for again.
  await approve(written).catch(() => {});
}

/** A built-in runs in a process of its own, as any other server would; it is given the variables that it declares. */
function builtin(name: string, output: Context["output"]): Target["to"] {
  const declared = builtins.get(name)?.environment ?? [];
  const env: Record<string, string> = {};
  for (const variable of declared) {
    const value = process.env[variable];
    if (value !== undefined && value !== "") env[variable] = value;
  }
  output.hide(Object.entries(env).map(([variable, value]): Hidden => [value, `[${variable}]`]));
  return {
    command: process.execPath,
    args: [fileURLToPath(new URL("./main.js", import.meta.url)), "serve", name, "--stdio"],
    env,
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
