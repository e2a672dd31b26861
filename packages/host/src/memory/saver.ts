/** The checkpoints of conversations: of each the latest, in memory, and in a store where there is one. */

import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  compareWritesSortKeys,
  type PendingWrite,
  WRITES_IDX_MAP,
  writesSortKey,
} from "@langchain/langgraph-checkpoint";
import { isObject } from "@patchbay/core";
import type { ConversationStore } from "./store.ts";

/** A write of a task that is done, or waits for an answer, while others of its step are not. */
type Write = [taskId: string, index: number, channel: string, value: string, path: string];

/** What is kept of a conversation, as text. */
interface Kept {
  id: string;
  checkpoint: string;
  metadata: string;
  writes: Write[];
}

/** Keeps no more of a conversation than it takes to go on: what came before its last step is part of it. */
export class LatestCheckpoints extends BaseCheckpointSaver {
  readonly #store: ConversationStore | undefined;
  readonly #kept = new Map<string, Kept>();

  constructor(store?: ConversationStore) {
    super();
    this.#store = store;
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const thread = threadOf(config);
    const kept = await this.#load(thread);
    const wanted = config.configurable?.checkpoint_id;
    if (kept === undefined || (wanted !== undefined && wanted !== kept.id)) return undefined;
    const ordered = kept.writes
      .map((write) => ({ write, key: writesSortKey(write[4], write[0], write[1]) }))
      .sort((a, b) => compareWritesSortKeys(a.key, b.key));
    return {
      config: { configurable: { thread_id: thread, checkpoint_ns: "", checkpoint_id: kept.id } },
      checkpoint: await this.#parse(kept.checkpoint),
      metadata: await this.#parse(kept.metadata),
      pendingWrites: await Promise.all(
        ordered.map(
          async ({ write: [task, , channel, value] }) => [task, channel, await this.#parse(value)] as never,
        ),
      ),
    };
  }

  async *list(config: RunnableConfig): AsyncGenerator<CheckpointTuple> {
    const latest = await this.getTuple(config);
    if (latest !== undefined) yield latest;
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const thread = threadOf(config);
    const kept = {
      id: checkpoint.id,
      checkpoint: await this.#write(checkpoint),
      metadata: await this.#write(metadata),
      writes: [],
    };
    this.#kept.set(thread, kept);
    await this.#save(thread, kept);
    return { configurable: { thread_id: thread, checkpoint_ns: "", checkpoint_id: checkpoint.id } };
  }

  async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = "",
  ): Promise<void> {
    const thread = threadOf(config);
    const texts = await Promise.all(writes.map(([, value]) => this.#write(value)));
    const kept = await this.#load(thread);
    // Of a step that is over nothing is needed any more.
    if (kept === undefined || kept.id !== config.configurable?.checkpoint_id) return;
    for (const [position, [channel]] of writes.entries()) {
      const index = WRITES_IDX_MAP[channel] ?? position;
      const at = kept.writes.findIndex(([task, known]) => task === taskId && known === index);
      const write: Write = [taskId, index, channel, texts[position] as string, taskPath];
      if (at === -1) kept.writes.push(write);
      else if (index < 0) kept.writes[at] = write;
    }
    await this.#save(thread, kept);
  }

  /** Another program may have gone on with it: it is read anew. */
  refresh(thread: string): void {
    if (this.#store !== undefined) this.#kept.delete(thread);
  }

  async deleteThread(thread: string): Promise<void> {
    this.#kept.delete(thread);
    await this.#store?.remove(thread);
  }

  async #load(thread: string): Promise<Kept | undefined> {
    const known = this.#kept.get(thread);
    if (known !== undefined || this.#store === undefined) return known;
    const text = await this.#store.load(thread);
    const kept = text === undefined ? undefined : readKept(text);
    if (kept !== undefined) this.#kept.set(thread, kept);
    return kept;
  }

  async #save(thread: string, kept: Kept): Promise<void> {
    await this.#store?.save(thread, JSON.stringify(kept));
  }

  async #write(value: unknown): Promise<string> {
    const [, bytes] = await this.serde.dumpsTyped(value);
    return Buffer.from(bytes).toString();
  }

  #parse(text: string): Promise<never> {
    return this.serde.loadsTyped("json", text) as Promise<never>;
  }
}

function threadOf(config: RunnableConfig): string {
  return String(config.configurable?.thread_id ?? "");
}

function readKept(text: string): Kept | undefined {
  const kept: unknown = JSON.parse(text);
  if (!isObject(kept) || typeof kept.checkpoint !== "string" || !Array.isArray(kept.writes)) return undefined;
  return kept as unknown as Kept;
}
