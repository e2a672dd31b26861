/** A child process together with all that it started: ended as one, and never left behind by us. */

import { type ChildProcess, spawn as spawnPlain } from "node:child_process";
import { randomUUID } from "node:crypto";
import spawn from "cross-spawn";
import { onExit } from "signal-exit";
import { type Family, familyOf, MARK } from "./process-family.ts";
import { unwatch, watch } from "./watchdog.ts";

export interface Command {
  command: string;
  args?: readonly string[];
  /** Added to the allow-listed part of our environment. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
}

const WINDOWS = process.platform === "win32";
/** Milliseconds between two looks at a tree that is ending; there is no event for it. */
const POLL = 20;

/** What all our trees are marked by; each has a number besides. */
const OURS = randomUUID();
let trees = 0;

/** The marks of trees that are alive, by the pid of their root. */
const alive = new Map<number, string>();
let stopWatching: (() => void) | undefined;

/** Starts a command in a process group of its own (on Windows: as it is; its tree is found when it is ended). */
export function startTree({ command, args = [], cwd }: Command, env: Record<string, string>): ChildProcess {
  const mark = `${OURS}.${++trees}.`;
  const child = spawn(command, [...args], {
    env: WINDOWS ? env : { ...env, [MARK]: mark },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ["pipe", "pipe", "pipe"],
    detached: !WINDOWS,
    windowsHide: true,
  });
  if (child.pid !== undefined) guard(child.pid, mark);
  return child;
}

/**
 * Ends a whole tree: by itself, since its stdin has ended; then by SIGTERM; then by SIGKILL. On Linux also what has left
 * its group (`setsid`), unless that hides both where it comes from and what it was given.
 */
export async function endTree(child: ChildProcess, stepTimeout: number): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const mark = alive.get(pid) ?? OURS;
  // While the root lives, all that descends from it can be seen.
  let family = exited(child) ? new Map() : familyOf(pid, mark);
  const over = () => {
    if (!exited(child) || groupLives(pid)) return false;
    family = familyOf(undefined, mark, family);
    return family.size === 0;
  };
  await exitWithin(child, stepTimeout);
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (over()) break;
    family = familyOf(exited(child) ? undefined : pid, mark, family);
    signalTree(pid, signal, family);
    const ended = () => {
      if (over()) return true;
      // Somebody may have been started just before.
      if (signal === "SIGKILL") signalTree(pid, signal, family);
      return false;
    };
    // What even SIGKILL does not end (a process that waits for a disk) must not hold us up.
    if (await within(stepTimeout, ended)) break;
  }
  release(pid);
}

function exited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function exitWithin(child: ChildProcess, ms: number): Promise<void> {
  if (exited(child)) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      child.off("exit", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    child.once("exit", end);
  });
}

async function within(ms: number, done: () => boolean): Promise<boolean> {
  const end = performance.now() + ms;
  while (!done()) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL));
  }
  return true;
}

function groupLives(pid: number): boolean {
  return !WINDOWS && kill(-pid, 0);
}

function signalTree(pid: number, signal: "SIGTERM" | "SIGKILL", family: Family): void {
  if (WINDOWS) {
    // Windows has no signals, and no groups: /T finds the children, /F ends them.
    spawnPlain("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true }).on(
      "error",
      () => {},
    );
    return;
  }
  kill(-pid, signal);
  for (const member of family.keys()) kill(member, signal);
}

/** Sends a signal; false where there is nobody. */
function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** From now on, when we end, so does this tree: at once where we can see to it ourselves, else a little later. */
function guard(pid: number, mark: string): void {
  stopWatching ??= onExit(() => {
    const family = familyOf(undefined, OURS);
    for (const root of alive.keys()) {
      signalTree(root, "SIGKILL", family);
      unwatch(root);
    }
  });
  alive.set(pid, mark);
  if (!WINDOWS) watch(pid, OURS);
}

function release(pid: number): void {
  if (!alive.delete(pid)) return;
  unwatch(pid);
  if (alive.size > 0) return;
  stopWatching?.();
  stopWatching = undefined;
}
