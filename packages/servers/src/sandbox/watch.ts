/** A process with all that came of it: who they are; and how much memory they have, where no control group bounds it. */

import { readdirSync, readFileSync } from "node:fs";

const EVERY_MS = 50;

/**
 * Looks at the memory of a process and all that came of it, until it is told to stop.
 *
 * @param onMore is told once when they have more than `maxBytes`
 * @returns stops it
 */
export function watchMemory(pid: number, maxBytes: number, onMore: () => void): () => void {
  const timer = setInterval(() => {
    if (memoryOf(pid) <= maxBytes) return;
    clearInterval(timer);
    onMore();
  }, EVERY_MS).unref();
  return () => clearInterval(timer);
}

/** Bytes of a process and its descendants that are not the pages of files: what they share is counted for each. */
export function memoryOf(pid: number): number {
  return familyOf(pid).reduce((bytes, each) => bytes + ownMemory(each), 0);
}

/** A process and its descendants. */
export function familyOf(pid: number): number[] {
  const seen = new Set<number>([pid]);
  for (const each of seen) for (const child of childrenOf(each)) seen.add(child);
  return [...seen];
}

function ownMemory(pid: number): number {
  let bytes = 0;
  const status = read(`/proc/${pid}/status`);
  for (const [, kibibytes] of status.matchAll(/^(?:RssAnon|RssShmem):\s*(\d+) kB/gm))
    bytes += Number(kibibytes) * 1024;
  return bytes;
}

function childrenOf(pid: number): number[] {
  let threads: string[];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
  return threads.flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number),
  );
}

/** The text of a file of /proc; nothing of a process that has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
