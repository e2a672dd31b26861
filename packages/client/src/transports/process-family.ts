/** Processes of a tree that left its group: found in /proc by a mark in their environment, or by their ancestors (Linux). */

import { readdirSync, readFileSync } from "node:fs";

/** The variable that a tree is marked by; whoever starts a process hands it on. */
export const MARK = "PATCHBAY_TREE";

/** Processes by their ids, each with the moment of its start: an id alone may be another's by now. */
export type Family = Map<number, string>;

interface Running {
  pid: number;
  parent: number;
  startedAt: string;
}

/**
 * All that run and belong to a tree, but its root: those that carry its mark, those that were known before, and what
 * descends from them or from the root. None where there is no /proc.
 */
export function familyOf(root: number | undefined, mark: string, known: Family = new Map()): Family {
  const family: Family = new Map();
  const children = new Map<number, Running[]>();
  const found: Running[] = [];
  for (const process of running()) {
    const siblings = children.get(process.parent);
    if (siblings === undefined) children.set(process.parent, [process]);
    else siblings.push(process);
    if (known.get(process.pid) === process.startedAt || isMarked(process.pid, mark)) found.push(process);
  }
  if (root !== undefined) found.push(...(children.get(root) ?? []));
  for (let next = found.pop(); next !== undefined; next = found.pop()) {
    if (next.pid === root || family.has(next.pid)) continue;
    family.set(next.pid, next.startedAt);
    found.push(...(children.get(next.pid) ?? []));
  }
  return family;
}

function* running(): Generator<Running> {
  if (process.platform !== "linux") return;
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const stat = read(pid, "stat");
    // A command's name is in parentheses, and may have any character in it.
    const [state, parent, ...more] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const startedAt = more[17];
    if (startedAt === undefined || state === "Z" || state === "X") continue;
    yield { pid, parent: Number(parent), startedAt };
  }
}

function isMarked(pid: number, mark: string): boolean {
  return `\0${read(pid, "environ")}`.includes(`\0${MARK}=${mark}`);
}

/** Empty for a process that has ended, or is another user's. */
function read(pid: number, name: "stat" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}
