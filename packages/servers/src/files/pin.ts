/**
 * Holds on to a file or folder while it is worked on, so that nobody can put another in its place: it is opened first,
 * and what was opened is then found to be in the folders that may be used. On Linux, `/proc/self/fd/N` reaches it from
 * then on, whatever becomes of its name; elsewhere its real path does, and what is read is compared with it.
 */

import { closeSync, constants, existsSync, fstatSync, open, readlinkSync, type Stats } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { promisify } from "node:util";
import { OutsideError, quoted, type Roots } from "./roots.ts";

const openFile = promisify(open);

/** Opens a name, not what it stands for: no device is woken, and no pipe waited for. Of Linux; Node has no name for it. */
const O_PATH = 0x200000;
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const HAS_PROC = process.platform === "linux" && existsSync("/proc/self/fd");

/** A file or folder that is held on to. */
export interface Pin {
  /** Where it was when it was opened. */
  readonly real: string;
  /** The path that reaches it, and nothing else. */
  readonly via: string;
  readonly stats: Stats;
}

interface Held extends Pin {
  release(): void;
}

/**
 * Works on what a path leads to, links followed.
 *
 * @param path absolute, as `roots.locate` gave it
 * @throws OutsideError when it leads out of the folders; errors of the system
 */
export async function withPin<T>(path: string, roots: Roots, work: (pin: Pin) => Promise<T>): Promise<T> {
  return holding(await (HAS_PROC ? pinByDescriptor(path, O_PATH) : pinByPath(path, roots)), (pin) => {
    if (!roots.holds(pin.real)) throw new OutsideError(path, roots);
    return work(pin);
  });
}

/** The path of an entry of a held folder. A name that is no valid Unicode is bytes. */
export function pathIn(folder: Pin, name: string | Buffer): string | Buffer {
  return typeof name === "string"
    ? join(folder.via, name)
    : Buffer.concat([Buffer.from(join(folder.via, sep)), name]);
}

/**
 * Works on an entry of a folder that is held; a link is not followed.
 *
 * @throws Error when it is a link; errors of the system
 */
export async function withChild<T>(
  folder: Pin,
  name: string | Buffer,
  work: (pin: Pin) => Promise<T>,
): Promise<T> {
  const path = pathIn(folder, name);
  const child = HAS_PROC ? await pinByDescriptor(path, O_PATH | O_NOFOLLOW) : await pinOwn(path.toString());
  return holding(child, (pin) => {
    if (pin.stats.isSymbolicLink()) throw new Error(`${quoted(name.toString())} is a symbolic link`);
    return work(pin);
  });
}

async function holding<T>(held: Held, work: (pin: Pin) => Promise<T>): Promise<T> {
  try {
    return await work(held);
  } finally {
    held.release();
  }
}

async function pinByDescriptor(path: string | Buffer, flags: number): Promise<Held> {
  const descriptor = await openFile(path, flags);
  const release = () => closeSync(descriptor);
  try {
    const via = `/proc/self/fd/${descriptor}`;
    // The system has just looked at it, and answers both at once.
    return { real: readlinkSync(via), via, stats: fstatSync(descriptor), release };
  } catch (error) {
    release();
    throw error;
  }
}

async function pinByPath(path: string, roots: Roots): Promise<Held> {
  const real = await realpath(path);
  if (!roots.holds(real)) throw new OutsideError(path, roots);
  return pinOwn(real);
}

async function pinOwn(path: string): Promise<Held> {
  return { real: path, via: path, stats: await lstat(path), release: () => {} };
}

/** What may be read and replaced. */
export interface Allowed {
  /** Files with more than one name, of which one may be outside. */
  readonly hardLinks: boolean;
}

/** @throws Error when it is no regular file, or has other names, which may be outside of the folders */
export function checkRegular({ stats }: Pick<Pin, "stats">, named: string, { hardLinks }: Allowed): void {
  if (stats.isDirectory())
    throw new Error(`${quoted(named)} is a folder; list_directory shows what is in it`);
  if (!stats.isFile())
    throw new Error(`${quoted(named)} is ${kindOf(stats)}; only regular files are touched`);
  if (stats.nlink > 1 && !hardLinks) {
    throw new Error(
      `${quoted(named)} has ${stats.nlink} names (hard links), and another may be outside of the folders; ` +
        "the server's operator can allow it (--allow-hard-links)",
    );
  }
}

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return stats.isSymbolicLink() ? "a symbolic link" : "a device";
}

/**
 * Opens a regular file for reading.
 *
 * @returns a descriptor, to be closed by who asked
 */
export async function openToRead(pin: Pin, named: string, allowed: Allowed): Promise<number> {
  checkRegular(pin, named, allowed);
  const descriptor = await openFile(pin.via, O_RDONLY | O_NONBLOCK | (HAS_PROC ? 0 : O_NOFOLLOW));
  if (HAS_PROC) return descriptor;
  const { dev, ino } = fstatSync(descriptor);
  if (dev === pin.stats.dev && ino === pin.stats.ino) return descriptor;
  closeSync(descriptor);
  throw new Error(`${quoted(named)} was replaced meanwhile; try again`);
}
