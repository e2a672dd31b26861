/** Processes of a tree that left its group: found in /proc by a mark in their environment, or by their ancestors (Linux). */

import { closeSync, openSync, readdirSync, readSync } from "node:fs";

/** The variable that a tree is marked by; whoever starts a process hands it on. */
export const MARK = "PATCHBAY_TREE";

/** Processes by their ids, each with the moment of its start: an id alone may be another's by now. */
export type Family = Map<number, string>;

/** Where the moment of the start is in what `statOf` gives, in ticks since the machine's. */
const START = 19;
/** Of larger environments the rest is not looked at. */
const MAX_ENVIRONMENT = 256 * 1024;

let buffer: Buffer | undefined;
let ourStart: number | undefined;

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
    if (known.get(process.pid) === process.startedAt || isMarked(process, mark)) found.push(process);
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
    const { 0: state, 1: parent, [START]: startedAt } = statOf(pid);
    if (startedAt === undefined || state === "Z" || state === "X") continue;
    yield { pid, parent: Number(parent), startedAt };
  }
}

function isMarked({ pid, startedAt }: Running, mark: string): boolean {
  // Who was there before us has nothing from us, and need not be looked at any closer.
  ourStart ??= Number(statOf(process.pid)[START]);
  return Number(startedAt) >= ourStart && `\0${read(pid, "environ")}`.includes(`\0${MARK}=${mark}`);
}

/** The state of a process, its parent, and more (proc(5)); empty when there is none. */
function statOf(pid: number): string[] {
  const stat = read(pid, "stat");
  // A command's name is in parentheses, and may have any character in it.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Empty for a process that has ended, or is another user's. */
function read(pid: number, name: "stat" | "environ"): string {
  buffer ??= Buffer.allocUnsafe(MAX_ENVIRONMENT);
  let file: number | undefined;
  let length = 0;
  try {
    file = openSync(`/proc/${pid}/${name}`, "r");
    for (let more = 1; more > 0 && length < buffer.length; length += more)
      more = readSync(file, buffer, length, buffer.length - length, null);
  } catch {
    length = 0;
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return buffer.toString("latin1", 0, length);
}
