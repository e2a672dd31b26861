/** The tasks of one server, in whatever revision they were asked for: made, looked up, answered, cancelled. */

import {
  ErrorCode,
  type InputRequest,
  isObject,
  isTerminal,
  type JsonObject,
  ProtocolError,
} from "@patchbay/core";
import type { Caller } from "../exchange.ts";
import { Listeners } from "./listeners.ts";
import { memoryTasks } from "./memory.ts";
import { type Hearing, TaskRun } from "./run.ts";
import type { TaskInput, TaskRecord, TaskStore } from "./store.ts";

/** How a tool runs as a task. */
export interface TaskOptions {
  /** Whether it runs as nothing else: clients that take no tasks are told so. Default false. */
  required?: boolean;
  /**
   * Whether it becomes a task only when its handler calls `ctx.defer()`. What it asks before that is asked in the
   * call itself; where it never defers, the call is answered as any other. Default false: it is a task at once.
   */
  deferred?: boolean;
  /** Milliseconds from its creation after which it is stopped and forgotten. Default: the server's. */
  ttl?: number;
  /** Milliseconds that clients should wait between two looks at it. Default: the server's. */
  pollInterval?: number;
}

export interface TasksOptions {
  /** Where they live. Default: this process's memory. */
  store?: TaskStore;
  /** Milliseconds from its creation after which a task is stopped and forgotten. Default 1 hour. */
  ttl?: number;
  /** The most that a client may ask for, where it may ask. Default 24 hours. */
  maxTtl?: number;
  /** Milliseconds that clients should wait between two looks at a task. Default 1 s. */
  pollInterval?: number;
  /** Questions that one task may ask in all. Default 64. */
  maxQuestions?: number;
}

/** What a request needs to become a task. */
export interface TaskRequest {
  readonly caller: Caller;
  readonly owner: string;
  readonly options: TaskOptions;
  /** What the client asked for, in milliseconds. */
  readonly ttl?: number | undefined;
  readonly hearing: Hearing;
}

const HOUR = 60 * 60_000;
/** A longer timer would go off at once. */
const LONGEST = 2 ** 31 - 1;
/** Entries on one page of a list. */
const PAGE = 100;

export class Tasks {
  /** Whether any tool may run as a task: only then does a request look here. */
  offered = false;
  /** Who hears what a task has to tell while it runs, in this process: by the task's id, or by its owner. */
  readonly audience = new Listeners<[method: string, params: object]>();
  /** The request that waits for a task's result in this process, by the task's id: the last one that came. */
  readonly fetching = new Map<string, object>();
  #store: TaskStore;
  readonly #hasStore: boolean;
  readonly #ttl: number;
  readonly #maxTtl: number;
  readonly #pollInterval: number;
  readonly #maxQuestions: number;
  readonly #report: (error: unknown, where: string) => void;
  readonly #running = new Set<TaskRun>();

  /** @throws Error for a duration that is none */
  constructor(options: TasksOptions, report: (error: unknown, where: string) => void) {
    this.#store = options.store ?? memoryTasks();
    this.#hasStore = options.store !== undefined;
    this.#ttl = duration("tasks.ttl", options.ttl ?? HOUR);
    this.#maxTtl = duration("tasks.maxTtl", options.maxTtl ?? 24 * HOUR);
    this.#pollInterval = duration("tasks.pollInterval", options.pollInterval ?? 1000);
    this.#maxQuestions = options.maxQuestions ?? 64;
    this.#report = report;
  }

  /** Keeps those to come in a store that instances share, unless it was made with one of its own. */
  keepIn(store: TaskStore): void {
    if (!this.#hasStore) this.#store = store;
  }

  /**
   * Makes a request a task, which can be found when this resolves. Its work begins with `follow()`.
   *
   * @throws ProtocolError (−32600) that names the limit, when there are too many
   */
  async make({ caller, owner, options, ttl, hearing }: TaskRequest): Promise<TaskRun> {
    const now = Date.now();
    const record: TaskRecord = {
      id: crypto.randomUUID(),
      owner,
      countsFor: [...new Set([owner, caller.access?.principal ?? ""])].filter((each) => each !== ""),
      status: "working",
      createdAt: now,
      lastUpdatedAt: now,
      ttl: Math.min(ttl ?? options.ttl ?? this.#ttl, this.#maxTtl),
      pollInterval: options.pollInterval ?? this.#pollInterval,
      inputs: {},
    };
    await this.#store.create(record);
    const run = new TaskRun(record, caller, hearing, {
      change: (change) => this.#change(record.id, change),
      watch: (listener) => this.#store.watch(record.id, listener),
      report: this.#report,
      over: () => this.#running.delete(run),
      maxQuestions: this.#maxQuestions,
    });
    this.#running.add(run);
    return run;
  }

  /** @throws ProtocolError (−32602) when there is no such task, or it is somebody else's */
  async get(id: unknown, owner: string): Promise<TaskRecord> {
    if (typeof id !== "string") throw new ProtocolError(ErrorCode.InvalidParams, '"taskId" must be a string');
    const record = await this.#store.get(id);
    // Who may not see a task is not told that there is one.
    if (record === undefined || record.owner !== owner) throw unknownTask(id);
    return record;
  }

  /**
   * Cancels a task; one that is over stays as it is.
   *
   * @returns the task as it is then, and whether it was cancelled by this
   * @throws ProtocolError as `get`
   */
  async cancel(id: unknown, owner: string): Promise<{ task: TaskRecord; cancelled: boolean }> {
    const before = await this.get(id, owner);
    const task = await this.#change(before.id, (record) => ({
      ...record,
      status: "cancelled",
      statusMessage: "The client cancelled the task",
      inputs: {},
    }));
    if (task === undefined) throw unknownTask(before.id);
    return { task, cancelled: task.status === "cancelled" && !isTerminal(before.status) };
  }

  /**
   * Takes answers to open questions in; answers to others are passed over (SEP-2663 § Task Update Requests).
   *
   * @throws ProtocolError as `get`, and (−32602) for an answer that is no object
   */
  async answer(id: unknown, owner: string, answers: JsonObject): Promise<void> {
    const task = await this.get(id, owner);
    for (const key of Object.keys(openInputs(task))) {
      const answer = Object.hasOwn(answers, key) ? answers[key] : undefined;
      if (answer === undefined || isObject(answer)) continue;
      throw new ProtocolError(ErrorCode.InvalidParams, `inputResponses["${key}"] must be an object`);
    }
    await this.#settle(task.id, (key) => {
      const answer = Object.hasOwn(answers, key) ? answers[key] : undefined;
      return isObject(answer) ? { answer } : undefined;
    });
  }

  /** Nobody will answer an open question. */
  async giveUp(id: string, question: string, failure: string): Promise<void> {
    await this.#settle(id, (key) => (key === question ? { failure } : undefined));
  }

  /**
   * A page of an owner's tasks, and the cursor of the next.
   *
   * @throws ProtocolError (−32602) for a cursor that is none any more
   */
  async list(owner: string, cursor: unknown): Promise<{ tasks: TaskRecord[]; nextCursor?: string }> {
    const after = cursor === undefined ? undefined : /^after:(.+)$/.exec(String(cursor))?.[1];
    const found =
      cursor !== undefined && after === undefined
        ? undefined
        : await this.#store.list(owner, after, PAGE + 1);
    if (found === undefined) {
      throw new ProtocolError(
        ErrorCode.InvalidParams,
        "Invalid cursor; list again from the start, without a cursor",
      );
    }
    const tasks = found.slice(0, PAGE);
    return found.length > PAGE ? { tasks, nextCursor: `after:${tasks.at(-1)?.id}` } : { tasks };
  }

  /** Tells of each change of a task; nothing when it is gone. */
  watch(id: string, listener: (record: TaskRecord | undefined) => void): () => void {
    return this.#store.watch(id, listener);
  }

  /**
   * Stops what runs in this process, and says so of each task.
   *
   * @param owner whose tasks to stop, when their session is over. Default: everybody's
   */
  async end(owner?: string): Promise<void> {
    const message = owner === undefined ? "The server stopped" : "The session is over";
    const error = { code: ErrorCode.InternalError, message };
    const ending = [...this.#running].filter(({ record }) => owner === undefined || record.owner === owner);
    await Promise.all(
      ending.map((run) => {
        run.stop(new Error(message));
        return this.#change(run.record.id, (record) => ({
          ...record,
          status: "failed",
          statusMessage: message,
          error,
          inputs: {},
        }));
      }),
    );
  }

  async #settle(id: string, settled: (key: string) => TaskInput | undefined): Promise<void> {
    await this.#change(id, (record) => {
      const inputs = { ...record.inputs };
      let changed = false;
      for (const key of Object.keys(openInputs(record))) {
        const input = settled(key);
        if (input === undefined) continue;
        inputs[key] = input;
        changed = true;
      }
      if (!changed) return undefined;
      const open = Object.keys(openInputs({ inputs })).length > 0;
      return { ...record, status: open ? "input_required" : "working", inputs };
    });
  }

  /** The one place where tasks change: one that is over does not. */
  #change(
    id: string,
    change: (record: TaskRecord) => TaskRecord | undefined,
  ): Promise<TaskRecord | undefined> {
    return this.#store.update(id, (record) => {
      const changed = isTerminal(record.status) ? undefined : change(record);
      return changed && { ...changed, lastUpdatedAt: Date.now() };
    });
  }
}

/** The questions of a task that wait for an answer. */
export function openInputs({ inputs }: Pick<TaskRecord, "inputs">): Record<string, InputRequest> {
  return Object.fromEntries(
    Object.entries(inputs).flatMap(([key, input]) => ("request" in input ? [[key, input.request]] : [])),
  );
}

/**
 * Checks what a tool says of its tasks.
 *
 * @throws Error for a duration that is none
 */
export function taskOptions(task: boolean | "required" | TaskOptions | undefined): TaskOptions | undefined {
  if (task === undefined || task === false) return undefined;
  const options = task === true ? {} : task === "required" ? { required: true } : task;
  if (options.ttl !== undefined) duration("task.ttl", options.ttl);
  if (options.pollInterval !== undefined) duration("task.pollInterval", options.pollInterval);
  return options;
}

function duration(name: string, value: number): number {
  if (Number.isInteger(value) && value > 0 && value <= LONGEST) return value;
  throw new Error(`${name} must be a whole number of milliseconds from 1 to ${LONGEST}, not ${value}`);
}

function unknownTask(id: string): ProtocolError {
  return new ProtocolError(
    ErrorCode.InvalidParams,
    `Task not found: ${id.slice(0, 64)}; it may have expired`,
  );
}
