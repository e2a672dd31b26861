/** Where conversations are kept: the contract of a store, of texts by name. */

import type { PrivateFile } from "@patchbay/client/private-file";

export interface ConversationStore {
  load(id: string): Promise<string | undefined>;
  /** Replaces it as a whole: a crash leaves the old one or the new. */
  save(id: string, text: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** The newest first. */
  list(): Promise<ConversationInfo[]>;
  /**
   * Keeps a conversation for one turn, against other programs too, until the release is called. One that a program left
   * behind when it was killed is free again after some seconds.
   *
   * @param signal gives up; the promise rejects
   * @returns the release; nothing where another has it
   */
  hold?(id: string, signal?: AbortSignal): Promise<(() => Promise<void>) | undefined>;
}

/** Milliseconds after which another program's turn is not waited for: longer than a dead one's hold lasts. */
const HELD_MS = 12_000;

/** A hold by a lock beside a file. */
export async function holdBy(
  file: PrivateFile,
  id: string,
  signal?: AbortSignal,
): Promise<(() => Promise<void>) | undefined> {
  const over = AbortSignal.timeout(HELD_MS);
  const either = signal === undefined ? over : AbortSignal.any([over, signal]);
  try {
    return await file.hold(`turn of ${id}`, either);
  } catch (thrown) {
    signal?.throwIfAborted();
    if (over.aborted) return undefined;
    throw thrown;
  }
}

export interface ConversationInfo {
  id: string;
  /** When it was last saved, in milliseconds since 1970. */
  savedAt: number;
}
