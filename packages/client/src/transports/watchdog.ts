/** A shell that outlives us: when we are killed without a chance to clean up, it ends the processes that we started. */

import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { MARK } from "./process-family.ts";

/**
 * Is given our mark and the groups that there are: we may be killed before we could tell it anything. Reads "+ group" and
 * "- group" for trees that start and end. When its stdin ends, servers have ended theirs too, and get two seconds to leave
 * by themselves; then whatever is left of the groups, or carries our mark, is ended.
 */
const SCRIPT = `
trap '' HUP INT TERM
mark=$1
shift
groups=$*
while read -r what group; do
  rest=
  for each in $groups; do [ "$each" = "$group" ] || rest="$rest $each"; done
  groups=$rest
  [ "$what" = + ] && groups="$groups $group"
done
[ -n "$groups" ] || exit 0
for signal in TERM KILL; do
  sleep 2
  for group in $groups; do kill -s $signal -- "-$group"; done
  for file in /proc/[0-9]*/environ; do
    [ -r "$file" ] && grep -qs "${MARK}=$mark" "$file" && pid=\${file#/proc/} && kill -s $signal "\${pid%/environ}"
  done
done
`;

/** Milliseconds until it is started: most connections that are short do without. */
const DELAY = 500;

const groups = new Set<number>();
let starting: NodeJS.Timeout | undefined;
let shell: ChildProcess | undefined;

/**
 * From now on a group of processes does not outlive us, whatever becomes of us. Without a shell it may.
 *
 * @param mark what all our trees are marked by
 */
export function watch(group: number, mark: string): void {
  groups.add(group);
  tell(`+ ${group}`);
  if (shell === undefined) starting ??= setTimeout(() => start(mark), DELAY).unref();
}

/** A group has ended. */
export function unwatch(group: number): void {
  groups.delete(group);
  tell(`- ${group}`);
  if (groups.size > 0) return;
  clearTimeout(starting);
  starting = undefined;
  shell?.stdin?.end();
  shell = undefined;
}

function tell(line: string): void {
  shell?.stdin?.write(`${line}\n`);
}

function start(mark: string): void {
  starting = undefined;
  const known = [...groups].map(String);
  const started = spawn("/bin/sh", ["-c", SCRIPT, "patchbay-watchdog", mark, ...known], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: "/",
    env: { PATH: process.env.PATH },
  });
  started.on("error", () => {});
  started.stdin.on("error", () => {});
  started.unref();
  // The pipe is a handle of its own, and must not keep us alive either.
  (started.stdin as Socket).unref();
  shell = started;
}
