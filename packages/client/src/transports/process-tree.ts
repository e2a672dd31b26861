/** A child process together with all that it started: ended as one, and never left behind by us. */

import { type ChildProcess, spawn as spawnPlain } from "node:child_process";
import spawn from "cross-spawn";
import { onExit } from "signal-exit";

export interface Command {
  command: string;
  args?: readonly string[];
  /** Added to the allow-listed part of our environment. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
}

const WINDOWS = process.platform === "win32";
/** Milliseconds between two looks at a group that is ending; there is no event for it. */
const POLL = 10;

/** Trees that are alive, by the pid of their root. */
const alive = new Set<number>();
let stopWatching: (() => void) | undefined;

/** Starts a command in a process group of its own (on Windows: as it is; its tree is found when it is ended). */
export function startTree({ command, args = [], cwd }: Command, env: Record<string, string>): ChildProcess {
  const child = spawn(command, [...args], {
    env,
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ["pipe", "pipe", "pipe"],
    detached: !WINDOWS,
    windowsHide: true,
  });
  if (child.pid !== undefined) guard(child.pid);
  return child;
}

/** Ends a whole tree: by itself, since its stdin has ended; then by SIGTERM; then by SIGKILL. */
export async function endTree(child: ChildProcess, stepTimeout: number): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const over = () => exited(child) && !groupLives(pid);
  if (!(await exitWithin(child, stepTimeout)) || groupLives(pid)) {
    signalTree(pid, "SIGTERM");
    if (!(await within(stepTimeout, over))) {
      signalTree(pid, "SIGKILL");
      // What even SIGKILL does not end (a process that waits for a disk) must not hold us up.
      await within(stepTimeout, over);
    }
  }
  release(pid);
}

function exited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function exitWithin(child: ChildProcess, ms: number): Promise<boolean> {
  if (exited(child)) return Promise.resolve(true);
  return new Promise((resolve) => {
    const onExit = () => {
      clearTimeout(timer);
      resolve(true);
    };
    const timer = setTimeout(() => {
      child.off("exit", onExit);
      resolve(false);
    }, ms);
    child.once("exit", onExit);
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
  if (WINDOWS) return false;
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}

function signalTree(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  if (WINDOWS) {
    // Windows has no signals, and no groups: /T finds the children, /F ends them.
    spawnPlain("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true }).on(
      "error",
      () => {},
    );
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // It is gone already.
  }
}

/** From now on, when we end (a fatal signal included), so does this tree. */
function guard(pid: number): void {
  stopWatching ??= onExit(() => {
    for (const root of alive) signalTree(root, "SIGKILL");
  });
  alive.add(pid);
}

function release(pid: number): void {
  if (!alive.delete(pid) || alive.size > 0) return;
  stopWatching?.();
  stopWatching = undefined;
}
