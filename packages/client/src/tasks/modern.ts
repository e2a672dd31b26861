/** Tasks as the extension io.modelcontextprotocol/tasks has them (SEP-2663): heard of, or else asked for now and then. */

import {
  type DetailedTask,
  ErrorCode,
  isObject,
  type JsonObject,
  ProtocolError,
  type Task,
} from "@patchbay/core";
import type { Conversation } from "../conversation.ts";
import { InvalidResponseError, TaskCancelledError } from "../errors.ts";
import type { CallOptions, RequestOptions } from "../options.ts";
import { pause } from "../pause.ts";
import { answerAll } from "../rounds.ts";
import { failureOf, readDetailed, statusTeller } from "./state.ts";
import { retried, type TaskMethods, UNLIMITED, untilNextLook } from "./task.ts";

/** Milliseconds between two looks while changes are told: one that was not is found out so. */
const HEARD_INTERVAL = 30_000;

export class ModernTasks implements TaskMethods {
  readonly #conversation: Conversation;
  /** False once the server has said that it tells of nothing. */
  #tells = true;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  async get(taskId: string, options?: RequestOptions): Promise<DetailedTask> {
    return readDetailed("tasks/get", await this.#ask("tasks/get", taskId, "", options), taskId);
  }

  async cancel(taskId: string, options?: RequestOptions): Promise<void> {
    await this.#ask("tasks/cancel", taskId, "", options);
  }

  /** Answers questions of a task; those that were answered before are passed over by the server. */
  async update(taskId: string, responses: JsonObject, options?: RequestOptions): Promise<void> {
    await this.#ask("tasks/update", taskId, `,"inputResponses":${JSON.stringify(responses)}`, options);
  }

  follow(taskId: string, options: CallOptions, signal: AbortSignal, known?: Task): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const following = new Following(this, this.#conversation, taskId, options, signal, { resolve, reject });
      following.run(known);
    });
  }

  /** Hears of a task until the signal aborts, or the server ends it. */
  async listen(taskId: string, onNotice: Notice, signal: AbortSignal): Promise<void> {
    if (!this.#tells) return;
    const members = `"notifications":{"taskIds":[${JSON.stringify(taskId)}]}`;
    try {
      await this.#conversation.request(
        { method: "subscriptions/listen", members, onNotice },
        { ...UNLIMITED, signal },
      );
    } catch (error) {
      if (error instanceof ProtocolError && error.code === ErrorCode.MethodNotFound) this.#tells = false;
    }
  }

  #ask(method: string, taskId: string, more: string, options?: RequestOptions): Promise<JsonObject> {
    const members = `"taskId":${JSON.stringify(taskId)}${more}`;
    return this.#conversation.request({ method, members, name: taskId }, options);
  }
}

type Notice = (method: string, params: JsonObject) => void;

/** One task, from now until its end. */
class Following {
  readonly #tasks: ModernTasks;
  readonly #conversation: Conversation;
  readonly #taskId: string;
  readonly #signal: AbortSignal;
  /** Of each request. */
  readonly #limits: RequestOptions;
  readonly #tell: (task: Task) => void;
  readonly #resolve: (result: JsonObject) => void;
  readonly #reject: (error: unknown) => void;
  /** Keys of questions that were asked already (§ Task Update Requests: each stands for one question). */
  readonly #asked = new Set<string>();
  #rounds = 0;
  /** Whether changes are told. */
  #heard = false;
  #nap = new AbortController();

  constructor(
    tasks: ModernTasks,
    conversation: Conversation,
    taskId: string,
    { timeout, maxTimeout, onStatus }: CallOptions,
    signal: AbortSignal,
    { resolve, reject }: { resolve: (result: JsonObject) => void; reject: (error: unknown) => void },
  ) {
    this.#tasks = tasks;
    this.#conversation = conversation;
    this.#taskId = taskId;
    this.#signal = signal;
    this.#limits = {
      signal,
      ...(timeout !== undefined && { timeout }),
      ...(maxTimeout !== undefined && { maxTimeout }),
    };
    this.#tell = statusTeller(onStatus);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  run(known: Task | undefined): void {
    const onAbort = () => this.#reject(this.#signal.reason);
    this.#signal.addEventListener("abort", onAbort, { once: true });
    if (known !== undefined) this.#tell(known);
    void this.#listen();
    this.#poll(known).catch(this.#reject);
  }

  async #listen(): Promise<void> {
    const own = new AbortController();
    const onNotice: Notice = (method, params) => {
      if (method === "notifications/subscriptions/acknowledged") {
        const { taskIds } = isObject(params.notifications) ? params.notifications : {};
        this.#heard = Array.isArray(taskIds) && taskIds.includes(this.#taskId);
        if (!this.#heard) own.abort(new Error("the server does not tell of the task"));
      } else if (method === "notifications/tasks" && params.taskId === this.#taskId && this.#heard) {
        try {
          this.#see(readDetailed(method, params, this.#taskId));
        } catch (error) {
          this.#reject(error);
        }
      }
    };
    await this.#tasks.listen(this.#taskId, onNotice, AbortSignal.any([this.#signal, own.signal]));
    if (!this.#heard) return;
    this.#heard = false;
    this.#nap.abort();
  }

  /** Looks at the task again and again; ends with the signal. */
  async #poll(known: Task | undefined): Promise<void> {
    // A new task that is working is looked at when the server wants that; of any other, more has to be known.
    let interval = known?.status === "working" ? this.#intervalOf(known, 0) : 0;
    for (let looks = 1; !this.#signal.aborted; looks++) {
      if (interval > 0) await this.#sleep(interval);
      const get = () => this.#tasks.get(this.#taskId, this.#limits);
      const task = await retried(get, () => this.#conversation.isOver, this.#signal);
      this.#see(task);
      interval = this.#intervalOf(task, looks);
    }
  }

  #intervalOf({ pollIntervalMs }: Task, looks: number): number {
    return untilNextLook(pollIntervalMs, looks, this.#heard ? HEARD_INTERVAL : undefined);
  }

  async #sleep(ms: number): Promise<void> {
    this.#nap = new AbortController();
    const nap = this.#nap.signal;
    await pause(ms, AbortSignal.any([this.#signal, nap])).catch((reason) => {
      if (!nap.aborted) throw reason;
    });
  }

  #see(task: DetailedTask): void {
    if (this.#signal.aborted) return;
    this.#tell(task);
    switch (task.status) {
      case "completed":
        return this.#resolve(task.result as JsonObject);
      case "failed":
        return this.#reject(failureOf(task));
      case "cancelled":
        return this.#reject(new TaskCancelledError(this.#taskId));
      case "input_required":
        this.#answer(task.inputRequests as unknown as JsonObject).catch(this.#reject);
    }
  }

  async #answer(requests: JsonObject): Promise<void> {
    const open = Object.entries(requests).filter(([key]) => !this.#asked.has(key));
    if (open.length === 0) return;
    const { maxRounds } = this.#conversation.settings;
    if (++this.#rounds > maxRounds) {
      const what = `the task asks for input more often than maxRounds allows (${maxRounds})`;
      throw new InvalidResponseError(`tools/call: ${what}`);
    }
    for (const [key] of open) this.#asked.add(key);
    const asked = Object.fromEntries(open);
    const responses = await answerAll(this.#conversation, "tools/call", asked, this.#signal);
    const update = () => this.#tasks.update(this.#taskId, responses, this.#limits);
    await retried(update, () => this.#conversation.isOver, this.#signal);
  }
}
