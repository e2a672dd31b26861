/** A server of Streamable HTTP in a process of its own: it prints its URL when it listens. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface HttpServerProcess {
  readonly url: string;
  /** Ends it; resolves when it has ended. */
  stop(): Promise<void>;
}

/** @param args what `node` is started with */
export async function startHttpServer(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<HttpServerProcess> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return { url: await readUrl(child), stop: () => stop(child) };
}

async function readUrl(child: ChildProcess & { stdout: NodeJS.ReadableStream }): Promise<string> {
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("http://")) continue;
    child.stdout.resume();
    return line;
  }
  throw new Error("The server ended before it said where it listens");
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}
