/** `serve`: a built-in server, or one that a module exports, over stdio or HTTP. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { nearest } from "@patchbay/core";
import type { McpServer } from "@patchbay/server";
import { builtins } from "@patchbay/servers";
import type { Context } from "../context.ts";
import { failed, usage } from "../failure.ts";

export interface ServeOptions {
  stdio?: boolean;
  /** A port, or true for the default one. */
  http?: string | true;
  host?: string;
  path?: string;
  allowHost?: string[];
}

const DEFAULT_PORT = 3000;

/** Resolves when the client hangs up (stdio), or when it is told to stop. */
export async function serve(name: string, options: ServeOptions, context: Context): Promise<void> {
  if (options.stdio === true && options.http !== undefined)
    throw usage("Serve over --stdio or --http, not both.");
  const port = options.http === undefined ? undefined : portOf(options.http);
  const server = await load(name);
  if (port === undefined) await overStdio(name, server, context);
  else await overHttp(name, server, port, options, context);
}

async function overStdio(name: string, server: McpServer, { output, signal }: Context): Promise<void> {
  const { serveStdio } = await import("@patchbay/server/stdio");
  if (process.stdin.isTTY) output.note(`${name} speaks MCP on stdin and stdout. Ctrl-C ends it.`);
  await Promise.race([serveStdio(server), aborted(signal)]);
}

async function overHttp(
  name: string,
  server: McpServer,
  port: number,
  { host, path, allowHost }: ServeOptions,
  { output, signal }: Context,
): Promise<void> {
  const { serveHttp } = await import("@patchbay/server/http");
  const place = { port, host, path, allowedHosts: allowHost };
  const running = await serveHttp(server, place).catch((thrown: NodeJS.ErrnoException) => {
    throw refusal(thrown, port, host);
  });
  if (output.json) output.value({ url: running.url });
  process.stderr.write(`${name} is served at ${running.url} (Ctrl-C ends it)\n`);
  await aborted(signal);
  await running.close();
}

/** Why it cannot listen, in the command's own terms. */
function refusal(thrown: NodeJS.ErrnoException, port: number, host: string | undefined): Error {
  if (thrown.code === "EADDRINUSE") {
    return failed(
      `Port ${port} is taken. Choose another, such as --http ${port + 1}, or --http 0 for any free one.`,
    );
  }
  if (thrown.message.includes("allowedHosts")) {
    return usage(
      `${host} can be reached from other machines: name the hosts that clients use, ` +
        `such as --allow-host mcp.example.com (or --allow-host "*" for any), or leave --host out.`,
    );
  }
  return thrown;
}

function portOf(given: string | true): number {
  if (given === true) return DEFAULT_PORT;
  const port = Number(given);
  if (/^\d+$/.test(given) && port <= 65_535) return port;
  throw usage(
    `--http takes a port from 0 to 65535, not "${given}". The server comes first: patchbay serve <name> --http.`,
  );
}

async function load(name: string): Promise<McpServer> {
  const builtin = builtins.get(name);
  if (builtin !== undefined) return builtin.load();
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
    throw failed(`${name} could not be loaded: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  const servers = new Set(Object.values(exported).filter(isServer));
  const [only] = servers;
  if (only !== undefined && servers.size === 1) return only;
  const found = servers.size === 0 ? "exports no McpServer" : `exports ${servers.size} servers`;
  throw usage(`${name} ${found}. Export one: export const server = new McpServer({ name, version }).`);
}

/** By its methods: a module may bring its own copy of the package. */
function isServer(value: unknown): value is McpServer {
  const { serve, handle, tool } = (value ?? {}) as Partial<McpServer>;
  return [serve, handle, tool].every((method) => typeof method === "function");
}

function isModule(name: string): boolean {
  return /[\\/]/.test(name) || /\.[cm]?[jt]s$/.test(name);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
