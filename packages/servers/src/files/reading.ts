/** Reading a file as a whole, or piece by piece: only what is held on to, and only regular files. */

import { close, constants, fstatSync, open, read } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { BeyondLimitError, type FilesLimits } from "./limits.ts";
import type { ReadAt } from "./lines.ts";
import { type Allowed, openToRead, type Pin } from "./pin.ts";
import { quoted } from "./roots.ts";

const openFile = promisify(open);
const readInto = promisify(read);
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Works with what a held file holds. */
export async function withContents<T>(
  pin: Pin,
  named: string,
  allowed: Allowed,
  work: (readAt: ReadAt, size: number) => Promise<T>,
): Promise<T> {
  const descriptor = await openToRead(pin, named, allowed);
  try {
    return await work(readerOf(descriptor), pin.stats.size);
  } finally {
    // Nobody waits for it: it was only read.
    close(descriptor, () => {});
  }
}

function readerOf(descriptor: number): ReadAt {
  return async (buffer, position) =>
    (await readInto(descriptor, buffer, 0, buffer.length, position)).bytesRead;
}

/** A file that is open, to be closed by who opened it. */
export interface Opened {
  readonly size: number;
  readonly readAt: ReadAt;
  close(): void;
}

/** Opens an entry of a held folder; nothing where it is no regular file, has other names, or may not be read. */
export async function openEntry(
  folder: Pin,
  name: string,
  { hardLinks }: Allowed,
): Promise<Opened | undefined> {
  let descriptor: number;
  try {
    descriptor = await openFile(join(folder.via, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return undefined;
  }
  const end = () => close(descriptor, () => {});
  try {
    const stats = fstatSync(descriptor);
    if (stats.isFile() && (stats.nlink === 1 || hardLinks))
      return { size: stats.size, readAt: readerOf(descriptor), close: end };
  } catch (error) {
    end();
    throw error;
  }
  end();
  return undefined;
}

/**
 * All bytes of a held file.
 *
 * @throws BeyondLimitError when there are more than `maxFileBytes`
 */
export function readWhole(
  pin: Pin,
  named: string,
  allowed: Allowed,
  limits: FilesLimits,
  advice = "",
): Promise<Buffer> {
  return withContents(pin, named, allowed, (readAt, size) => readAll(readAt, size, named, limits, advice));
}

/** All bytes of an open file, which may grow while it is read. */
export async function readAll(
  readAt: ReadAt,
  size: number,
  named: string,
  { maxFileBytes }: FilesLimits,
  advice = "",
): Promise<Buffer> {
  if (size > maxFileBytes) throw tooLarge(named, maxFileBytes, advice);
  // One byte more than there should be: reading less than that is how its end is seen.
  let bytes = Buffer.allocUnsafe(size + 1);
  let filled = 0;
  for (;;) {
    const count = await readAt(bytes.subarray(filled), filled);
    filled += count;
    if (count === 0 || filled < bytes.length) {
      if (count === 0 || filled === size) return bytes.subarray(0, filled);
      continue;
    }
    if (filled > maxFileBytes) throw tooLarge(named, maxFileBytes, advice);
    bytes = Buffer.concat([bytes], Math.min(filled * 2, maxFileBytes + 1));
  }
}

function tooLarge(named: string, most: number, advice: string): Error {
  return new BeyondLimitError("maxFileBytes", most, `${quoted(named)} has more bytes`, advice);
}
