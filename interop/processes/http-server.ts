/** A server of HTTP in a process of its own: it prints its URL when it listens. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

export interface HttpServerProcess {
  readonly url: string;
  /** Ends it; resolves when it has ended. */
  stop(): Promise<void>;
}

/**
 * Starts a server.
 *
 * @param args what `node` is started with
 * @throws Error when it ends before it listens, with what it wrote to stderr
 */
export async function startHttpServer(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<HttpServerProcess> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const url = await readUrl(child.stdout);
  if (url === undefined) throw new Error(`The server ended before it said where it listens: ${stderr}`);
  return { url, stop: () => stop(child) };
}

async function readUrl(stdout: Readable): Promise<string | undefined> {
  for await (const line of createInterface({ input: stdout })) {
    const url = /http:\/\/127\.0\.0\.1:\d+\/(mcp|sse)/.exec(line)?.[0];
    if (url === undefined) continue;
    stdout.resume();
    return url;
  }
  return undefined;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}
