/** Tasks in this process's memory: each is forgotten when its time is over, and their number is capped. */

import { limitError } from "@patchbay/core";
import { every } from "../timers.ts";
import { Listeners } from "./listeners.ts";
import type { TaskRecord, TaskStore } from "./store.ts";

export interface MemoryTasksOptions {
  /** Tasks that are kept at once, whatever their status; one more is refused. Default 10,000. */
  maxTasks?: number;
  /** Those of one user, or of one session where users are not known. Default 100. */
  maxTasksPerOwner?: number;
  /** Milliseconds between two looks for tasks whose time is over. Default 10 s. */
  sweepEvery?: number;
}

/** A store in memory. One timer serves all tasks, while there are any, and keeps no process alive. */
export function memoryTasks(options: MemoryTasksOptions = {}): TaskStore {
  const { maxTasks = 10_000, maxTasksPerOwner = 100, sweepEvery = 10_000 } = options;
  // In the order of their creation, as the ids of each owner are.
  const tasks = new Map<string, TaskRecord>();
  const owned = new Map<string, Set<string>>();
  const listeners = new Listeners<[TaskRecord | undefined]>();
  let stopSweeping: (() => void) | undefined;

  function find(id: string): TaskRecord | undefined {
    const task = tasks.get(id);
    if (task === undefined || isKept(task, Date.now())) return task;
    forget(task);
    return undefined;
  }

  function forget(task: TaskRecord): void {
    const { id, countsFor } = task;
    tasks.delete(id);
    for (const owner of countsFor) {
      const ids = owned.get(owner);
      ids?.delete(id);
      if (ids?.size === 0) owned.delete(owner);
    }
    if (tasks.size === 0) {
      stopSweeping?.();
      stopSweeping = undefined;
    }
    listeners.tell(id, undefined);
  }

  function sweep(): void {
    const now = Date.now();
    for (const task of [...tasks.values()]) if (!isKept(task, now)) forget(task);
  }

  const isFull = (owner: string): boolean => (owned.get(owner)?.size ?? 0) >= maxTasksPerOwner;

  function admit(task: TaskRecord): void {
    if (tasks.size >= maxTasks) {
      throw limitError(
        "maxTasks",
        `as many tasks as maxTasks allows (${maxTasks}) are kept; try later`,
        maxTasks,
      );
    }
    if (task.countsFor.some(isFull)) {
      const what = `you have as many tasks as maxTasksPerOwner allows (${maxTasksPerOwner}); try later`;
      throw limitError("maxTasksPerOwner", what, maxTasksPerOwner);
    }
  }

  return {
    async create(task) {
      if (tasks.size >= maxTasks || task.countsFor.some(isFull)) sweep();
      admit(task);
      tasks.set(task.id, task);
      for (const owner of task.countsFor) {
        const ids = owned.get(owner) ?? new Set();
        owned.set(owner, ids.add(task.id));
      }
      stopSweeping ??= every(sweepEvery, sweep);
    },

    get: async (id) => find(id),

    async update(id, change) {
      const task = find(id);
      const changed = task && change(task);
      if (changed === undefined) return task;
      tasks.set(id, changed);
      listeners.tell(id, changed);
      return changed;
    },

    async list(owner, after, limit) {
      const ids = [...(owned.get(owner) ?? [])].filter((id) => find(id) !== undefined);
      const start = after === undefined ? 0 : ids.indexOf(after) + 1;
      if (after !== undefined && start === 0) return undefined;
      return ids.slice(start, start + limit).map((id) => tasks.get(id) as TaskRecord);
    },

    watch: (id, listener) => listeners.add(id, listener),
  };
}

function isKept({ createdAt, ttl }: TaskRecord, now: number): boolean {
  return now < createdAt + ttl;
}
