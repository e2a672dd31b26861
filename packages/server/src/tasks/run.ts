/** A task that runs in this process: the exchange that its handler is given. The handler is run once, and waits. */

import {
  type CallToolResult,
  type InputRequest,
  isTerminal,
  type JsonObject,
  type LoggingLevel,
  limitError,
  type Revision,
} from "@patchbay/core";
import type { Access } from "../auth/access.ts";
import {
  type Caller,
  CancelledError,
  type ClientDescription,
  type Dialogue,
  type Exchange,
  spelled,
  toldTo,
} from "../exchange.ts";
import { after } from "../timers.ts";
import type { TaskRecord } from "./store.ts";

/** What a client hears of its task while it runs, as its revision has it. */
export interface Hearing {
  /** Takes what the handler reports. */
  notify(id: string, method: string, params: object): void;
  /** Takes each change. */
  changed(record: TaskRecord): void;
}

/** What a run has of the tasks that it is one of. */
interface Keeper {
  /** Changes the task, unless it is over. */
  change(change: (record: TaskRecord) => TaskRecord): Promise<TaskRecord | undefined>;
  watch(listener: (record: TaskRecord | undefined) => void): () => void;
  report(error: unknown, where: string): void;
  over(): void;
  readonly maxQuestions: number;
}

interface Waiting {
  resolve: (answer: JsonObject) => void;
  reject: (cause: Error) => void;
}

/** Characters of a status message; what is longer is cut. */
const LONGEST_MESSAGE = 1024;

export class TaskRun implements Exchange {
  /** The task as it was made. */
  readonly record: TaskRecord;
  readonly access: Access | undefined;
  readonly revision: Revision;
  readonly client: ClientDescription;
  readonly logLevel: LoggingLevel | undefined;
  readonly dialogue: Dialogue;
  readonly #caller: Caller;
  readonly #hearing: Hearing;
  readonly #keeper: Keeper;
  readonly #controller = new AbortController();
  readonly #waiting = new Map<string, Waiting>();
  readonly #keys = new Set<string>();
  readonly #steps = new Map<string, Promise<unknown>>();
  readonly #unwatch: () => void;
  readonly #callOff: () => void;
  #message: string | undefined;
  #saying: Promise<void> | undefined;
  #over = false;

  constructor(record: TaskRecord, caller: Caller, hearing: Hearing, keeper: Keeper) {
    this.record = record;
    this.access = caller.access;
    this.revision = caller.wire.revision;
    this.client = caller.client;
    this.logLevel = caller.logLevel;
    this.#caller = caller;
    this.#hearing = hearing;
    this.#keeper = keeper;
    this.dialogue = {
      ask: (request, key) => this.#ask(request, key),
      step: (name, run) => this.#step(name, run),
    };
    this.#unwatch = keeper.watch((changed) => this.#see(changed));
    this.#callOff = after(record.ttl, () =>
      this.stop(new Error(`The task was over after its ttl (${record.ttl} ms)`)),
    );
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  notify(method: string, params: object): void {
    if (!this.#over) this.#hearing.notify(this.record.id, method, params);
  }

  /** There is no connection to let go of. */
  detach(): void {}

  /** What is said while an earlier message is being kept waits for that, and the last one wins. */
  status(message: string): void {
    if (this.#over) return;
    this.#message = message.slice(0, LONGEST_MESSAGE);
    this.#saying ??= this.#say();
  }

  /** Does the work, after the turn that made the task: its client should know of it first. */
  follow(work: () => Promise<CallToolResult>): void {
    setTimeout(() => {
      if (this.#over) return;
      work().then(
        (result) => this.#finish({ status: "completed", statusMessage: undefined, result }),
        (thrown) => {
          const error = this.#caller.wire.error(toldTo(this.#caller, thrown));
          return this.#finish({ status: "failed", statusMessage: error.message, error });
        },
      );
    }, 0);
  }

  /** Cancels the task: nobody has heard of it, and nobody will. */
  abandon(): void {
    if (this.#over) return;
    void this.#change((record) => ({
      ...record,
      status: "cancelled",
      statusMessage: "The call was given up before it was answered",
      inputs: {},
    }));
  }

  /** Stops the handler, and hears no more of the task. */
  stop(why: Error): void {
    if (this.#over) return;
    this.#end();
    this.#controller.abort(why);
    for (const { reject } of this.#waiting.values()) reject(why);
    this.#waiting.clear();
  }

  async #say(): Promise<void> {
    for (let said: string | undefined; said !== this.#message; ) {
      said = this.#message;
      await this.#change((record) => ({ ...record, statusMessage: said }));
    }
    this.#saying = undefined;
  }

  async #ask(asked: InputRequest, key?: string): Promise<JsonObject> {
    if (this.#over) throw (this.signal.reason as Error | undefined) ?? new Error("The task is over");
    const request = spelled(asked, this.#caller);
    const { maxQuestions } = this.#keeper;
    if (this.#keys.size >= maxQuestions) {
      const what = `the task asks more than maxQuestions allows (${maxQuestions})`;
      throw limitError("maxQuestions", what, maxQuestions);
    }
    const own = this.#freeKey(key ?? `${this.#keys.size + 1}`);
    return new Promise((resolve, reject) => {
      this.#waiting.set(own, { resolve, reject });
      this.#keeper
        .change((record) => ({
          ...record,
          status: "input_required",
          inputs: { ...record.inputs, [own]: { request } },
        }))
        .catch(reject);
    });
  }

  /** A key means one question over the whole life of a task (SEP-2663 § Task Update Requests). */
  #freeKey(wanted: string): string {
    let key = wanted;
    for (let copy = 2; this.#keys.has(key); copy++) key = `${wanted}-${copy}`;
    this.#keys.add(key);
    return key;
  }

  #step(name: string, run: () => unknown): Promise<unknown> {
    let kept = this.#steps.get(name);
    if (kept === undefined) {
      kept = Promise.resolve().then(run);
      this.#steps.set(name, kept);
    }
    return kept;
  }

  #see(record: TaskRecord | undefined): void {
    if (record === undefined) return this.stop(new Error("The task was over after its ttl"));
    this.#hearing.changed(record);
    if (record.status === "cancelled") return this.stop(new CancelledError());
    if (isTerminal(record.status)) return;
    for (const [key, { resolve, reject }] of this.#waiting) {
      const input = record.inputs[key];
      if (input === undefined || "request" in input) continue;
      this.#waiting.delete(key);
      if ("answer" in input) resolve(input.answer);
      else reject(new Error(input.failure));
    }
  }

  async #finish(outcome: Partial<TaskRecord>): Promise<void> {
    await this.#change((record) => ({ ...record, ...outcome, inputs: {} }));
    if (!this.#over) this.#end();
  }

  async #change(change: (record: TaskRecord) => TaskRecord): Promise<void> {
    try {
      await this.#keeper.change(change);
    } catch (thrown) {
      this.#keeper.report(thrown, "tasks");
    }
  }

  #end(): void {
    this.#over = true;
    this.#unwatch();
    this.#callOff();
    this.#keeper.over();
  }
}
