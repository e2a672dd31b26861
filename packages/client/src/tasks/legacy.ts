/** Tasks as 2025-11-25 has them, an experiment there (basic/utilities/tasks): their results are waited for. */

import { ErrorCode, isTerminal, type JsonObject, ProtocolError, type Task } from "@patchbay/core";
import type { Conversation } from "../conversation.ts";
import { InvalidResponseError, TaskCancelledError } from "../errors.ts";
import type { CallOptions, RequestOptions } from "../options.ts";
import { pause } from "../pause.ts";
import { progressTeller } from "../progress.ts";
import { readTask, statusTeller } from "./state.ts";
import { retried, type TaskMethods, UNLIMITED, untilNextLook } from "./task.ts";

export class LegacyTasks implements TaskMethods {
  readonly #conversation: Conversation;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  async get(taskId: string, options?: RequestOptions): Promise<Task> {
    return readTask("tasks/get", await this.#ask("tasks/get", taskId, options), taskId);
  }

  async cancel(taskId: string, options?: RequestOptions): Promise<void> {
    try {
      await this.#ask("tasks/cancel", taskId, options);
    } catch (error) {
      // One that is over cannot be cancelled; here that is an error (§ Task Cancellation).
      if (!(error instanceof ProtocolError) || error.code !== ErrorCode.InvalidParams) throw error;
      const task = await this.get(taskId, options).catch(() => undefined);
      if (task === undefined || !isTerminal(task.status)) throw error;
    }
  }

  /** The server answers when the task is over; what it asks meanwhile comes by itself. */
  async follow(
    taskId: string,
    options: CallOptions,
    signal: AbortSignal,
    known?: Task,
    token?: string,
  ): Promise<JsonObject> {
    const tellStatus = statusTeller(options.onStatus);
    const tellProgress = progressTeller(options.onProgress);
    if (known !== undefined) tellStatus(known);
    const unhear = this.#conversation.hear((method, params) => {
      if (signal.aborted) return;
      if (method === "notifications/progress" && token !== undefined && params.progressToken === token)
        tellProgress(params);
      if (method !== "notifications/tasks/status" || params.taskId !== taskId) return;
      try {
        tellStatus(readTask(method, params, taskId));
      } catch (error) {
        if (!(error instanceof InvalidResponseError)) throw error;
        // It is only told by the way: what counts is the result.
      }
    });
    // Notifications of it are optional: who wants to know of changes has to look.
    if (options.onStatus !== undefined) this.#watch(taskId, tellStatus, signal).catch(() => {});
    try {
      const ask = () => this.#ask("tasks/result", taskId, { ...UNLIMITED, signal });
      const result = await retried(ask, () => this.#conversation.isOver, signal);
      if (options.onStatus !== undefined) await this.get(taskId, { signal }).then(tellStatus, () => {});
      return result;
    } catch (error) {
      // That it was cancelled is said in words alone.
      if (!(error instanceof ProtocolError)) throw error;
      const task = await this.get(taskId, { signal }).catch(() => undefined);
      if (task?.status === "cancelled") throw new TaskCancelledError(taskId);
      throw error;
    } finally {
      unhear();
    }
  }

  async #watch(taskId: string, tellStatus: (task: Task) => void, signal: AbortSignal): Promise<void> {
    for (let looks = 0; ; looks++) {
      const task = await this.get(taskId, { signal });
      if (signal.aborted) return;
      tellStatus(task);
      if (isTerminal(task.status)) return;
      await pause(untilNextLook(task.pollIntervalMs, looks), signal);
    }
  }

  #ask(method: string, taskId: string, options?: RequestOptions): Promise<JsonObject> {
    return this.#conversation.request({ method, members: `"taskId":${JSON.stringify(taskId)}` }, options);
  }
}
