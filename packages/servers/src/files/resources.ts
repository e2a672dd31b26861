/** Files as resources: read by their `file://` URI, completed as it is typed (server/resources § file://). */

import { opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ErrorCode, ProtocolError, type ResourceContents, ResourceNotFoundError } from "@patchbay/core";
import type { Context, McpServer, Watch } from "@patchbay/server";
import { codeOf, inWords } from "./failures.ts";
import { BeyondLimitError } from "./limits.ts";
import { kindOf } from "./media.ts";
import { type Pin, withPin } from "./pin.ts";
import { readWhole } from "./reading.ts";
import { pathOfUri, type Roots } from "./roots.ts";
import { utf8 } from "./text.ts";
import { typeOf } from "./walk.ts";
import { Watching } from "./watching.ts";
import type { Workspace } from "./workspace.ts";

const FOLDER = "inode/directory";
const PREFIX = "file:///";
const FILE = {
  name: "file",
  title: "A file or folder",
  description: "The bytes of a file, or the names of what is in a folder",
};

/** Offers every file by its URI. */
export function offerFiles(server: McpServer, workspace: Workspace): void {
  const refuse: Watch = () => {
    const why = "to watch files the server has to be started with folders: patchbay serve files ./project";
    throw new ProtocolError(ErrorCode.InvalidRequest, why);
  };
  server.resourceTemplate(
    `${PREFIX}{+path}`,
    { ...FILE, enabled: workspace.enabled, watch: refuse },
    (uri, _variables, context) => read(uri, context, workspace),
  );
}

/**
 * Offers every file in folders that are known from the start, by its URI: completed, watched for who subscribes; and
 * lists those folders, with the files right in them.
 */
export async function offerFilesIn(roots: Roots, server: McpServer, workspace: Workspace): Promise<void> {
  const watching = new Watching(workspace.limits.maxWatchedFolders);
  const watch: Watch = (uri) =>
    refusing(() => watching.watch(roots.locate(uri), roots, () => server.resourceUpdated(uri)));
  server.resourceTemplate(
    `${PREFIX}{+path}`,
    { ...FILE, complete: { path: (typed) => completions(typed, roots, workspace) }, watch },
    (uri, _variables, context) => read(uri, context, workspace),
  );
  const contents = new Contents(server, workspace, roots, watch);
  await contents.refresh();
  for (const folder of roots.folders) {
    await watching
      .watch(folder, roots, () => void contents.refresh())
      .catch((error) => server.report(error, "watching"));
  }
}

/** @throws ResourceNotFoundError, or another ProtocolError that says why it cannot be read */
async function read(uri: string, context: Context, workspace: Workspace): Promise<ResourceContents> {
  const roots = await refusing(async () => workspace.rootsFor(context));
  try {
    return await refusing(async () => {
      const path = roots.locate(uri);
      return inWords(uri, roots, () => withPin(path, roots, (pin) => contentsOf(uri, pin, workspace)));
    });
  } catch (error) {
    if (codeOf((error as Error).cause) === "ENOENT") throw new ResourceNotFoundError(uri);
    throw error;
  }
}

/** What is thrown on purpose is for the client to know. */
async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BeyondLimitError) {
      const { message, limit, value } = error;
      throw new ProtocolError(ErrorCode.InvalidRequest, message, { limit, value });
    }
    if (error instanceof ProtocolError || codeOf(error) !== undefined || !isDeliberate(error)) throw error;
    throw new ProtocolError(ErrorCode.InvalidParams, error.message, undefined, { cause: error.cause });
  }
}

function isDeliberate(error: unknown): error is Error {
  return error instanceof Error && !(error instanceof TypeError || error instanceof RangeError);
}

async function contentsOf(uri: string, pin: Pin, { allowed, limits }: Workspace): Promise<ResourceContents> {
  if (pin.stats.isDirectory()) {
    const names = await namesIn(pin, limits.maxEntries);
    return { uri, mimeType: FOLDER, text: names.join("\n") };
  }
  const bytes = await readWhole(pin, uri, allowed, limits, "; read_file gives its lines");
  const { mimeType, kind } = kindOf(bytes, basename(pin.real));
  const text = kind === "text" ? utf8(bytes) : undefined;
  return text === undefined ? { uri, mimeType, blob: bytes.toString("base64") } : { uri, mimeType, text };
}

/** What is right in a folder, folders with `/` at their ends. */
async function namesIn(folder: Pin, most: number): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(folder.via)) {
    if (names.length === most) break;
    names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
  }
  return names.sort();
}

/** What a URI may go on with, as it is written in one: percent-encoded where it has to be. */
async function completions(typed: string, roots: Roots, { limits }: Workspace): Promise<string[]> {
  let path: string;
  try {
    path = pathOfUri(PREFIX + typed);
  } catch {
    return [];
  }
  const above = roots.folders.filter((folder) => folder.startsWith(path) && folder !== path);
  const isFolder = typed.endsWith("/");
  const folder = isFolder ? path : dirname(path);
  const start = isFolder ? "" : basename(path);
  const names = await inFolder(folder, roots, limits.maxEntries);
  const inside = names.filter((name) => name.startsWith(start)).map((name) => join(folder, name));
  return [...above.map((each) => `${each}/`), ...inside].map((each) =>
    pathToFileURL(each).href.slice(PREFIX.length),
  );
}

async function inFolder(folder: string, roots: Roots, most: number): Promise<string[]> {
  try {
    return await withPin(roots.locate(folder), roots, (pin) => namesIn(pin, most));
  } catch {
    return [];
  }
}

/** The folders that may be used and the files right in them, as they are listed. */
class Contents {
  readonly #server: McpServer;
  readonly #workspace: Workspace;
  readonly #roots: Roots;
  readonly #watch: Watch;
  #listed = new Set<string>();
  /** One after another: each compares with what the last has listed. */
  #refreshed = Promise.resolve();

  constructor(server: McpServer, workspace: Workspace, roots: Roots, watch: Watch) {
    this.#watch = watch;
    this.#server = server;
    this.#workspace = workspace;
    this.#roots = roots;
  }

  /** Lists what is there now, and no longer what is not. Clients hear of it if it differs. */
  refresh(): Promise<void> {
    this.#refreshed = this.#refreshed.then(() => this.#refresh());
    return this.#refreshed;
  }

  async #refresh(): Promise<void> {
    const found = new Map<string, { name: string; mimeType?: string }>();
    for (const folder of this.#roots.folders) {
      found.set(pathToFileURL(folder).href, { name: basename(folder) || folder, mimeType: FOLDER });
      for (const name of await filesIn(folder, this.#roots, this.#workspace.limits.maxEntries)) {
        found.set(pathToFileURL(join(folder, name)).href, { name });
      }
    }
    for (const uri of this.#listed) if (!found.has(uri)) this.#server.removeResource(uri);
    for (const [uri, definition] of found) {
      if (this.#listed.has(uri)) continue;
      this.#server.resource(uri, { ...definition, watch: this.#watch }, (_uri, context) =>
        read(uri, context, this.#workspace),
      );
    }
    this.#listed = new Set(found.keys());
  }
}

async function filesIn(folder: string, roots: Roots, most: number): Promise<string[]> {
  const names: string[] = [];
  try {
    await withPin(folder, roots, async ({ via }) => {
      for await (const entry of await opendir(via)) {
        if (typeOf(entry) === "file" && !entry.name.startsWith(".")) names.push(entry.name);
        if (names.length === most) break;
      }
    });
  } catch {
    // It is gone for now.
  }
  return names.sort();
}
