/** What the system says when something fails, in words that a model can act on. */

import { basename, dirname } from "node:path";
import { nearest } from "@patchbay/core";
import { entriesOf } from "./entries.ts";
import { type Pin, withPin } from "./pin.ts";
import { OutsideError, quoted, type Roots } from "./roots.ts";

/** Names of a folder that are looked at for what may have been meant. */
const MAX_NAMES = 1000;

const WORDS = new Map<string, (named: string) => string>([
  ["ENOTDIR", (named) => `${named} is no folder, or a part of its path is a file`],
  ["EISDIR", (named) => `${named} is a folder`],
  ["EACCES", (named) => `the system does not let this server touch ${named}`],
  ["EPERM", (named) => `the system does not let this server touch ${named}`],
  ["EEXIST", (named) => `${named} is there already`],
  ["ENOTEMPTY", (named) => `${named} is a folder that is not empty`],
  ["ELOOP", (named) => `${named} goes through too many symbolic links`],
  ["ENAMETOOLONG", (named) => `${named} has a name that is too long for this file system`],
  ["ENOSPC", () => "there is no space left on the disk; nothing was changed"],
  ["EDQUOT", () => "the disk quota is used up; nothing was changed"],
  ["EFBIG", (named) => `${named} would be too large for this file system; nothing was changed`],
  ["EROFS", (named) => `${named} is on a file system that may only be read`],
  ["EXDEV", () => "the two paths are on different file systems; write the file there, and delete it here"],
  ["EBUSY", (named) => `${named} is in use`],
  ["ETXTBSY", (named) => `${named} is a program that runs`],
  ["EMFILE", () => "too many files are open; try again in a moment"],
  ["ENFILE", () => "too many files are open; try again in a moment"],
  ["ENXIO", (named) => `${named} is no regular file`],
  ["EINVAL", (named) => `the system takes no such name or place: ${named}`],
  ["EIO", (named) => `the disk failed to read or write ${named}`],
]);

/** The code of an error of the system. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "syscall" in error
    ? String((error as NodeJS.ErrnoException).code)
    : undefined;
}

/**
 * Does something with a path; what the system refuses is thrown in words.
 *
 * @param named as the client named it
 */
export async function inWords<T>(named: string, roots: Roots, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    if (code === "ENOENT") throw new Error(await missing(named, roots), { cause: error });
    const words = WORDS.get(code);
    if (words === undefined) throw error;
    throw new Error(words(quoted(named)), { cause: error });
  }
}

/** What is not there, and what may have been meant. */
async function missing(named: string, roots: Roots): Promise<string> {
  const path = roots.locate(named);
  const names = await namesIn(dirname(path), roots);
  if (typeof names === "string") return names;
  if (names === undefined) return `${quoted(named)} does not exist, nor does its folder`;
  const name = basename(path);
  const meant = alike(name, names) ?? nearest(name, names);
  if (meant === undefined) return `${quoted(named)} does not exist; list_directory shows what does`;
  return `${quoted(named)} does not exist; did you mean ${quoted(named.slice(0, -name.length) + meant)}?`;
}

/** The names in a folder; nothing where it is none. Where the way to it leads outside, that is said, whatever is there. */
async function namesIn(folder: string, roots: Roots): Promise<string[] | string | undefined> {
  for (let path = folder; roots.holds(path); path = dirname(path)) {
    try {
      return await withPin(path, roots, async (pin) => (path === folder ? firstNames(pin) : undefined));
    } catch (error) {
      if (error instanceof OutsideError) return error.message;
    }
    if (roots.isRoot(path)) break;
  }
  return undefined;
}

async function firstNames(folder: Pin): Promise<string[]> {
  const names: string[] = [];
  for await (const entries of entriesOf(folder)) {
    names.push(...entries.map(({ name }) => name));
    if (names.length >= MAX_NAMES) break;
  }
  return names;
}

/** A name that differs in case or in its Unicode form alone. */
function alike(name: string, names: readonly string[]): string | undefined {
  const plain = (text: string) => text.normalize("NFC").toLowerCase();
  return names.find((each) => plain(each) === plain(name));
}
