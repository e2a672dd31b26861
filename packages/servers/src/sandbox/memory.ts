/** A bound on the memory of all processes of a command together: a control group (version 2, or 1) of its own. */

import { randomBytes } from "node:crypto";
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

const PREFIX = "patchbay-sandbox-";
/** A group can be removed when its last process is gone, which may take a moment. */
const REMOVE_EVERY_MS = 50;
const REMOVE_TRIES = 100;
/** Nobody takes so long to join a group that they have made. */
const LEFT_AFTER_MS = 60_000;

/** Where groups can be made. */
export interface MemoryGroups {
  version: 1 | 2;
  /** The group that ours are made in. */
  parent: string;
}

/** The group of one command. */
export interface MemoryGroup {
  /** The file that takes who joins it. */
  join: string;
  /** Whether a process had to end because there was no more memory. */
  ranOut(): boolean;
  remove(): void;
}

/**
 * Finds where this process may make control groups that bound memory; nothing where it may not, as in most containers.
 *
 * @param mount of the control groups
 * @param own the groups that this process is in, as /proc/self/cgroup lists them
 */
export function findMemoryGroups(
  mount = "/sys/fs/cgroup",
  own = readFile("/proc/self/cgroup") ?? "",
): MemoryGroups | undefined {
  for (const line of own.split("\n")) {
    const [, controllers = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const version = controllers === "" ? 2 : 1;
    if (line === "" || (version === 1 && !controllers.split(",").includes("memory"))) continue;
    const top = version === 2 ? mount : join(mount, "memory");
    const parent = ancestors(top, path).find((group) => takes(group, version));
    if (parent === undefined) continue;
    removeLeft(parent);
    return { version, parent };
  }
  return undefined;
}

/** The group of this path and those above it, nearest first; a container may not see them all. */
function ancestors(top: string, path: string): string[] {
  const groups = [];
  for (let group = join(top, path); group.startsWith(top); group = dirname(group)) groups.push(group);
  return groups;
}

/** Whether a group in this one can be made, and can bound memory. */
function takes(parent: string, version: 1 | 2): boolean {
  const controlled =
    version === 1 || /\bmemory\b/.test(readFile(join(parent, "cgroup.subtree_control")) ?? "");
  if (!controlled) return false;
  const group = join(parent, `${PREFIX}${randomBytes(8).toString("hex")}`);
  try {
    mkdirSync(group);
  } catch {
    return false;
  }
  try {
    accessSync(join(group, version === 2 ? "memory.max" : "memory.limit_in_bytes"), constants.W_OK);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(group);
  }
}

/**
 * Removes the groups of a server that was killed. Those with processes stay, and so do young ones: another server's may
 * be empty because nobody has joined it yet.
 */
function removeLeft(parent: string): void {
  const oldest = Date.now() - LEFT_AFTER_MS;
  for (const name of readdirSync(parent).filter((each) => each.startsWith(PREFIX))) {
    const group = join(parent, name);
    const { mtimeMs = Date.now() } = statSync(group, { throwIfNoEntry: false }) ?? {};
    if (mtimeMs < oldest) tryToRemove(group);
  }
}

/** @throws Error of the file system when the group cannot be made */
export function makeMemoryGroup({ version, parent }: MemoryGroups, maxBytes: number): MemoryGroup {
  const group = join(parent, `${PREFIX}${randomBytes(8).toString("hex")}`);
  mkdirSync(group);
  const set = (name: string, value: string) => writeFileSync(join(group, name), value);
  try {
    set(version === 2 ? "memory.max" : "memory.limit_in_bytes", String(maxBytes));
  } catch (thrown) {
    tryToRemove(group);
    throw thrown;
  }
  if (version === 2) {
    whereThereIs(() => set("memory.swap.max", "0"));
    whereThereIs(() => set("memory.oom.group", "1"));
  } else whereThereIs(() => set("memory.memsw.limit_in_bytes", String(maxBytes)));
  const counted = join(group, version === 2 ? "memory.events" : "memory.oom_control");
  return {
    join: join(group, "cgroup.procs"),
    ranOut: () => /^oom_kill [1-9]/m.test(readFile(counted) ?? ""),
    remove: () => removeSoon(group, REMOVE_TRIES),
  };
}

function removeSoon(group: string, tries: number): void {
  if (tryToRemove(group) || tries === 0) return;
  setTimeout(() => removeSoon(group, tries - 1), REMOVE_EVERY_MS).unref();
}

function tryToRemove(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch {
    return false;
  }
}

/** Some kernels have no accounting of swap, and old ones end no group as a whole. */
function whereThereIs(set: () => void): void {
  try {
    set();
  } catch {
    // The bound on memory itself holds.
  }
}

function readFile(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
