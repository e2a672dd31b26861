/** Starts a command in the sandbox, and ends all that came of it. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Duplex, Readable, Writable } from "node:stream";
import { ENVIRONMENT, FILTER_FD, REPORT_FD, REQUEST_FD, USERS_FD } from "./bubblewrap.ts";
import { type MemoryGroup, type MemoryGroups, makeMemoryGroup } from "./memory.ts";
import type { Sandbox } from "./open.ts";
import { familyOf, watchMemory } from "./watch.ts";

/** A command that runs. */
export interface Launched {
  stdin: Writable | undefined;
  stdout: Readable;
  stderr: Readable;
  /** What it reports to us, apart from what it prints; nothing unless it `talks`. */
  report: Readable | undefined;
  /** What it is asked; nothing unless it `talks`, or where a file was given. */
  request: Writable | undefined;
  /** Ends it, and all that came of it. */
  end(): void;
  /** Its exit code, when all that it wrote was read; 128 and the signal's number when a signal ended it. */
  ended: Promise<number>;
  /** Whether it passed the bound on memory. */
  ranOutOfMemory(): boolean;
  /** Lets this process end though the command runs. */
  unref(): void;
}

export interface LaunchOptions {
  /** Whether its stdin is written to. Default: it is empty. */
  stdin?: boolean;
  /** Whether it reports to us, and is asked by us. Default: it is not. */
  talks?: boolean;
  /** A file, by its descriptor, that it reads instead of what it is asked. */
  requestFile?: number | undefined;
}

/** Those that run, to be ended with this process: a sandbox ends by itself, but there may be none. */
const running = new Set<() => void>();
process.once("exit", () => {
  for (const end of running) end();
});

/** @throws Error when the command cannot be started at all */
export async function launch(
  sandbox: Sandbox,
  command: readonly string[],
  { stdin = false, talks = false, requestFile }: LaunchOptions = {},
): Promise<Launched> {
  const { limits, groups, folder } = sandbox;
  // Where no group can be made now, the memory is watched.
  const group = groups && tryToMakeGroup(groups, limits.maxMemoryBytes);
  const box = folder === undefined ? undefined : mkdtempSync(join(folder, "patchbay-"));
  const clear = () => {
    group?.remove();
    if (box !== undefined) tryToRemove(box);
  };
  const [program = "", ...args] = [...joining(group), ...sandbox.prefix, ...command];
  const talk: ("pipe" | "ignore" | number)[] = talks ? ["pipe", requestFile ?? "pipe"] : ["ignore", "ignore"];
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      cwd: box ?? "/",
      env: { ...ENVIRONMENT, ...sandbox.environment, ...(box !== undefined && { HOME: box }) },
      stdio: [stdin ? "pipe" : "ignore", "pipe", "pipe", "pipe", ...talk, "pipe"],
      // A group of its own, to be ended as one.
      detached: true,
    });
  } catch (thrown) {
    clear();
    throw new Error(notStarted(program, thrown));
  }
  const end = () => endFamily(child);
  running.add(end);
  let passed = false;
  const unwatch =
    group === undefined && child.pid !== undefined && sandbox.filter !== undefined
      ? watchMemory(child.pid, limits.maxMemoryBytes, () => {
          passed = true;
          end();
        })
      : undefined;
  const ended = new Promise<number>((resolve) => {
    child.once("close", (code, signal) => {
      running.delete(end);
      unwatch?.();
      passed ||= group?.ranOut() ?? false;
      clear();
      resolve(code ?? 128 + signalNumber(signal));
    });
  });
  // There are none where this process has no descriptors left.
  const pipes = (child.stdio ?? []) as unknown as (Duplex | null)[];
  // A command may end before it has read what it was sent.
  for (const pipe of pipes) pipe?.on("error", () => {});
  pipes[FILTER_FD]?.end(sandbox.filter ?? "");
  pipes[USERS_FD]?.end(sandbox.users);
  try {
    await once(child, "spawn");
  } catch (thrown) {
    end();
    running.delete(end);
    unwatch?.();
    clear();
    throw new Error(notStarted(program, thrown));
  }
  return {
    stdin: child.stdin ?? undefined,
    stdout: child.stdout as Readable,
    stderr: child.stderr as Readable,
    report: pipes[REPORT_FD] ?? undefined,
    request: pipes[REQUEST_FD] ?? undefined,
    end,
    ended,
    ranOutOfMemory: () => passed,
    unref() {
      child.unref();
      for (const pipe of pipes) (pipe as { unref?: () => void } | null)?.unref?.();
    },
  };
}

/** Joins the group before anything else: what starts later is in it from its first byte on. */
function joining(group: MemoryGroup | undefined): string[] {
  return group === undefined ? [] : ["/bin/sh", "-c", 'echo 0 >"$0" && exec "$@"', group.join];
}

/**
 * Ends a process and all that came of it. Bubblewrap's child dies with it, but not until it has said so to the kernel;
 * by then it is in no group of ours any more.
 */
function endFamily({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined) return;
  const family = exitCode === null && signalCode === null ? familyOf(pid) : [];
  for (const each of [-pid, ...family]) {
    try {
      process.kill(each, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}

function tryToMakeGroup(groups: MemoryGroups, maxBytes: number): MemoryGroup | undefined {
  try {
    return makeMemoryGroup(groups, maxBytes);
  } catch {
    return undefined;
  }
}

/** A command may have left what we may not remove, or be writing still. */
function tryToRemove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // Without a sandbox its folder stays in the machine's folder of temporary files.
  }
}

function notStarted(program: string, thrown: unknown): string {
  const { code } = thrown as NodeJS.ErrnoException;
  if (code === "EMFILE" || code === "ENFILE")
    return `${program} cannot be started: this server has too many files and connections open (${code}); try again later`;
  return code === "ENOENT" ? `${program} is not installed` : `${program} cannot be started (${code})`;
}

function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === "SIGKILL" ? 9 : signal === "SIGTERM" ? 15 : 0;
}
