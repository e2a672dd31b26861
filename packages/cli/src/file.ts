/** Reads a small file of settings: never a pipe that nobody writes to, nor a device that never ends. */

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** 1 MiB. */
export const MAX_FILE_BYTES = 1024 * 1024;

/**
 * The text of a regular file of at most 1 MiB.
 *
 * @throws Error that says what it is instead; or the system's own, with its `code`
 */
export function readSmallFile(path: string): string {
  // Not to wait for the other end of a pipe; Windows has no such flag and no such files.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw new Error(`it is ${found.isDirectory() ? "a folder" : "no regular file"}`);
    const bytes = Buffer.alloc(Math.min(found.size, MAX_FILE_BYTES) + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count) {
      count = readSync(file, bytes, length, bytes.length - length, null);
    }
    if (length > MAX_FILE_BYTES) throw new Error("it is larger than 1 MiB");
    return bytes.toString("utf8", 0, length);
  } finally {
    closeSync(file);
  }
}
