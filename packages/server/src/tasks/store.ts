/** Where tasks live: one contract, whatever keeps them. */

import type { CallToolResult, ErrorObject, InputRequest, JsonObject, TaskStatus } from "@patchbay/core";

/** A question of a task to its client: open, answered, or given up. */
export type TaskInput =
  | { readonly request: InputRequest }
  | { readonly answer: JsonObject }
  /** Why there will be no answer. */
  | { readonly failure: string };

/** A task, as plain data. A changed one is a new record. */
export interface TaskRecord {
  readonly id: string;
  /** Who may see and touch it; empty for whoever knows its id. */
  readonly owner: string;
  /** Whose share it takes of: its owner's, and that of the user whose session this is. */
  readonly countsFor: readonly string[];
  readonly status: TaskStatus;
  readonly statusMessage?: string | undefined;
  /** Milliseconds since 1970, as all times here. */
  readonly createdAt: number;
  readonly lastUpdatedAt: number;
  /** Milliseconds from its creation after which it is forgotten, whatever its status. */
  readonly ttl: number;
  readonly pollInterval: number;
  /** By keys that are unique over its life. */
  readonly inputs: Readonly<Record<string, TaskInput>>;
  /** Once it is `completed`. */
  readonly result?: CallToolResult;
  /** Once it is `failed`, as its client's revision spells it. */
  readonly error?: ErrorObject;
}

/**
 * Keeps tasks. All that happens to a task goes through here, so that a task which runs on one instance can be
 * looked at, answered and cancelled on any other.
 */
export interface TaskStore {
  /**
   * Keeps a new task until its time is over. It can be found from when this resolves.
   *
   * @throws ProtocolError (−32600) that names the limit, when there are too many
   */
  create(task: TaskRecord): Promise<void>;
  /** The task of this id, if its time is not over. */
  get(id: string): Promise<TaskRecord | undefined>;
  /**
   * Changes a task, as if nobody else did at the same time.
   *
   * @param change what becomes of it, or nothing to leave it as it is. It may be called again, with what another
   *   instance has made of the task meanwhile
   * @returns the task as it is then, if there is one
   */
  update(id: string, change: (task: TaskRecord) => TaskRecord | undefined): Promise<TaskRecord | undefined>;
  /**
   * The tasks of an owner, the oldest first.
   *
   * @param after the id of the last that was listed before
   * @returns nothing when there is no task of that id any more
   */
  list(owner: string, after: string | undefined, limit: number): Promise<TaskRecord[] | undefined>;
  /**
   * Tells of each change of a task from now on, on whatever instance, and that it is gone.
   *
   * @returns ends that
   */
  watch(id: string, listener: (task: TaskRecord | undefined) => void): () => void;
}
