/** Conversations in a folder that only its user may read: a file each. */

import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { PrivateFile } from "@patchbay/client/private-file";
import { type ConversationInfo, type ConversationStore, holdBy } from "./store.ts";

const MAX_BYTES = 256 * 1024 * 1024;
const ENDING = ".json";

export interface ConversationFilesOptions {
  /** Conversations that are kept; the oldest go first. Default 100. */
  maxConversations?: number;
}

/** Keeps conversations in files of mode 0600, each replaced as a whole. */
export function conversationFiles(
  folder: string,
  { maxConversations = 100 }: ConversationFilesOptions = {},
): ConversationStore {
  const files = new Map<string, PrivateFile>();
  const fileOf = (id: string) => {
    const known = files.get(id) ?? new PrivateFile(join(folder, `${named(id)}${ENDING}`), MAX_BYTES);
    files.set(id, known);
    return known;
  };

  async function list(): Promise<ConversationInfo[]> {
    const names = await readdir(folder).catch(() => []);
    const found = await Promise.all(
      names
        .filter((name) => name.endsWith(ENDING))
        .map(async (name) => ({
          id: name.slice(0, -ENDING.length),
          savedAt: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0,
        })),
    );
    return found.sort((a, b) => b.savedAt - a.savedAt);
  }

  const known = new Set<string>();
  return {
    load: (id) => fileOf(id).read(),
    hold: (id, signal) => holdBy(fileOf(id), id, signal),
    save: (id, text) =>
      fileOf(id).alone("conversation", undefined, async () => {
        await fileOf(id).write(text);
        if (known.has(id)) return;
        known.add(id);
        for (const { id: old } of (await list()).slice(maxConversations))
          await rm(join(folder, `${old}${ENDING}`), { force: true });
      }),
    remove: (id) => rm(fileOf(id).path, { force: true }),
    list,
  };
}

/** @throws Error for what is no name of a file here */
function named(id: string): string {
  if (/^[\w-]{1,100}$/.test(id)) return id;
  throw new Error(
    `A conversation's id is of letters, digits, _ and -, not ${JSON.stringify(id.slice(0, 100))}`,
  );
}
