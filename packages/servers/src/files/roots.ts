/** The folders that may be used: what is in them, and what is not. */

import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, parse, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Context } from "@patchbay/server";

const MAX_PATH = 4096;
const MAX_ROOTS = 100;

/** A folder as it was named, and where it really is. */
interface Root {
  readonly given: string;
  readonly real: string;
}

/** Folders that may be used, and all that is in them. */
export class Roots {
  readonly #roots: readonly Root[];

  constructor(roots: readonly Root[]) {
    this.#roots = roots;
  }

  /** Where they really are. */
  get folders(): readonly string[] {
    return this.#roots.map(({ real }) => real);
  }

  /** Whether a real path is one of the folders, or in one. */
  holds(real: string): boolean {
    return this.#roots.some((root) => isWithin(real, root.real));
  }

  /** Whether it is one of the folders itself. */
  isRoot(real: string): boolean {
    return this.#roots.some((root) => root.real === real);
  }

  /** The folder that a real path is in. */
  rootOf(real: string): string | undefined {
    return this.#roots.find((root) => isWithin(real, root.real))?.real;
  }

  /**
   * An absolute path for one that a client named: absolute, relative to the first folder, or a `file://` URI. By the
   * names alone: what they lead to is looked at when it is opened.
   *
   * @throws Error when it cannot be a path, or lies outside
   */
  locate(named: string): string {
    const path = named.startsWith("file:") ? pathOfUri(named) : named;
    checkName(path);
    const first = this.#roots[0]?.real ?? sep;
    const absolute = isAbsolute(path) ? resolve(path) : resolve(first, path);
    for (const { given, real } of this.#roots) {
      if (isWithin(absolute, real)) return absolute;
      if (isWithin(absolute, given)) return join(real, absolute.slice(given.length));
    }
    throw new OutsideError(named, this);
  }
}

/** What was named lies outside of the folders, or leads out of them. */
export class OutsideError extends Error {
  constructor(named: string, roots: Roots) {
    super(`${quoted(named)} is outside of the folders that may be used: ${roots.folders.join(", ")}`);
  }
}

/** A name as it may be shown: control characters escaped, and not too long. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 300 ? `${name.slice(0, 300)}…` : name);
}

function isWithin(path: string, folder: string): boolean {
  if (!path.startsWith(folder)) return false;
  return path.length === folder.length || folder.endsWith(sep) || path[folder.length] === sep;
}

/** @throws Error when the system could not take it, or would take it for something else */
function checkName(path: string): void {
  if (path.includes("\0")) throw new Error("a path holds no NUL character");
  if (path.length > MAX_PATH) throw new Error(`a path has at most ${MAX_PATH} characters`);
  if (/\p{Surrogate}/u.test(path)) throw new Error(`${quoted(path)} is not valid Unicode`);
  if (process.platform === "win32") checkWindowsName(path);
}

/** Names that Windows takes for a device, a stream of a file, or another name. */
export function checkWindowsName(path: string): void {
  if (/^[\\/]{2}/.test(path))
    throw new Error(`${quoted(path)}: paths of devices and of other machines are not taken`);
  const names = path.replace(/^[a-zA-Z]:/, "").split(/[\\/]/);
  const odd = names.find(
    (name) =>
      /:|[. ]$/.test(name.replace(/^\.{1,2}$/, "")) || /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name),
  );
  if (odd !== undefined) throw new Error(`${quoted(odd)} is a name that Windows takes for something else`);
}

/**
 * The path of a `file://` URI.
 *
 * @throws Error when it names another machine, a query, or what is no path
 */
export function pathOfUri(uri: string): string {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (url?.protocol !== "file:") throw new Error(`${quoted(uri)} is no file:// URI`);
  if (url.host !== "" && process.platform !== "win32")
    throw new Error(`${quoted(uri)} names another machine; a file:// URI here begins with file:///`);
  if (url.search !== "" || url.hash !== "")
    throw new Error(`${quoted(uri)} has a query or a fragment; write ? as %3F and # as %23`);
  try {
    return fileURLToPath(url);
  } catch {
    throw new Error(`${quoted(uri)} is no path: a separator may not be percent-encoded`);
  }
}

/**
 * @param folders as the operator named them, relative to the working folder
 * @throws Error when one is no folder
 */
export async function rootsOf(folders: readonly string[]): Promise<Roots> {
  return new Roots(await Promise.all(folders.map(rootOf)));
}

async function rootOf(folder: string): Promise<Root> {
  // What a variable that is not set leaves on a command line would be the working folder.
  if (folder === "") throw new Error(`${quoted(folder)} is no folder`);
  const given = resolve(folder);
  const real = await realpath(given).catch(() => undefined);
  if (real === undefined || !(await stat(real)).isDirectory())
    throw new Error(`${quoted(folder)} is no folder`);
  // What is no Unicode is read as this character: other folders would seem to be in it.
  if (real.includes("\uFFFD")) throw new Error(`${quoted(folder)} has a name that is not valid Unicode`);
  return { given: withoutEnd(given), real: withoutEnd(real) };
}

function withoutEnd(path: string): string {
  return path === parse(path).root ? path : path.replace(/[\\/]+$/, "");
}

/**
 * The folders that the client lets us use. What is no folder here is passed over.
 *
 * @throws Error that says what to do, when there is none
 */
export async function rootsOfClient(context: Context): Promise<Roots> {
  const advice =
    'start the server with folders, such as: patchbay serve files ./project, or name "roots" in mcp.json';
  if (context.client.capabilities.roots === undefined)
    throw new Error(`no folder may be used: the client names no roots; ${advice}`);
  const named = await context.roots();
  const folders = await Promise.all(
    named.slice(0, MAX_ROOTS).map(async ({ uri }) => {
      try {
        return await rootOf(pathOfUri(uri));
      } catch {
        return undefined;
      }
    }),
  );
  const roots = folders.filter((root) => root !== undefined);
  if (roots.length > 0) return new Roots(roots);
  throw new Error(
    `no folder may be used: of the client's roots none is a folder here; add one there, or ${advice}`,
  );
}
