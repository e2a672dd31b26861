/** Calls of tools, whether they are answered at once or go on as tasks. */

import {
  type CallToolResult,
  type JsonObject,
  ProtocolError,
  type Revision,
  type ServerCapabilities,
  type Task,
} from "@patchbay/core";
import type { Conversation } from "./conversation.ts";
import { ConnectionError, TaskCancelledError } from "./errors.ts";
import type { CallOptions, Continuation, RequestOptions } from "./options.ts";
import { progressTeller } from "./progress.ts";
import { membersOf, type Question } from "./question.ts";
import type { Requests } from "./requests.ts";
import { arrayOf, isContentBlock } from "./results.ts";
import { LegacyTasks } from "./tasks/legacy.ts";
import { ModernTasks } from "./tasks/modern.ts";
import { createdTask } from "./tasks/state.ts";
import { type TaskMethods, type ToolTask, within } from "./tasks/task.ts";

/** What a call was answered with: its result, or the task that it has become. */
interface Answer {
  result: JsonObject;
  task: Task | undefined;
  /** What the progress of the task is told under. */
  token: string | undefined;
}

export class ToolCalls {
  readonly #conversation: Conversation;
  readonly #requests: Requests;
  /** Nothing where there are no tasks: the client does not take them, or the revision does not have them. */
  readonly #tasks: TaskMethods | undefined;
  /** Whether a call becomes a task when its client says so (2025-11-25); since, the server decides. */
  readonly #demands: boolean;
  /** Whether the server has said that it can cancel; since 2026-07-28 each can. */
  readonly #cancels: boolean;
  #tokens = 0;

  constructor(
    conversation: Conversation,
    requests: Requests,
    { revision, capabilities }: { revision: Revision; capabilities: ServerCapabilities },
  ) {
    this.#conversation = conversation;
    this.#requests = requests;
    this.#cancels = revision !== "2025-11-25" || capabilities.tasks?.cancel !== undefined;
    if (!conversation.settings.tasks || revision < "2025-11-25") {
      this.#demands = false;
      return;
    }
    this.#demands = revision === "2025-11-25" && capabilities.tasks?.requests?.tools?.call !== undefined;
    this.#tasks = revision === "2025-11-25" ? new LegacyTasks(conversation) : new ModernTasks(conversation);
    conversation.onLateResult = (result) => this.#orphaned(result);
  }

  /** Calls a tool, and follows it where it goes on as a task; giving up cancels that. */
  async call(name: string, args: object, options: CallOptions = {}): Promise<CallToolResult> {
    if (this.#tasks === undefined && this.#requests.tools.get(name)?.isReady !== false) {
      // Most calls: no promise more than needed.
      const question = callOf(name, args, options.continuation);
      return this.#checked(name, await this.#requests.call(question, args, options));
    }
    const wanted = options.onStatus !== undefined || options.ttl !== undefined;
    const asTask = this.#demands && (await this.#runsAsTask(name, wanted, options));
    const { result, task, token } = await this.#send(name, args, options, asTask);
    if (task === undefined) return this.#checked(name, result);
    try {
      return await this.#follow(name, task.taskId, options, task, token);
    } catch (error) {
      // Who fails to answer, or gives up, does not want it any more; all else has come from the server.
      const isOver =
        error instanceof ProtocolError ||
        error instanceof TaskCancelledError ||
        error instanceof ConnectionError;
      if (!isOver) this.#abandon(task.taskId);
      throw error;
    }
  }

  /** Calls a tool so that it may go on as a task. */
  async start(name: string, args: object, options: CallOptions = {}): Promise<ToolTask> {
    this.#methods();
    const asTask = this.#demands && (await this.#runsAsTask(name, true, options));
    const { result, task, token } = await this.#send(name, args, options, asTask);
    if (task === undefined) return answeredAtOnce(await this.#checked(name, result));
    const { onProgress, onStatus } = options;
    const heard = { ...(onProgress && { onProgress }), ...(onStatus && { onStatus }) };
    return this.#handle(task.taskId, (now) =>
      this.#follow(name, task.taskId, { ...heard, ...now }, task, token),
    );
  }

  /** Takes a task up again; the output schema of its tool is not known then. */
  task(taskId: string): ToolTask {
    this.#methods();
    return this.#handle(taskId, (now) => this.#follow(undefined, taskId, now));
  }

  #handle(taskId: string, result: (options?: CallOptions) => Promise<CallToolResult>): ToolTask {
    const methods = this.#methods();
    return {
      taskId,
      result,
      get: (options) => methods.get(taskId, options),
      cancel: (options) => methods.cancel(taskId, options),
    };
  }

  /** @throws TypeError for a client that did not say that it takes tasks */
  #methods(): TaskMethods {
    if (this.#tasks !== undefined) return this.#tasks;
    if (this.#conversation.settings.tasks) return NO_TASKS;
    throw new TypeError("Tasks are not declared to this server: connect with the option tasks: true");
  }

  /** Whether a tool of 2025-11-25 is called as a task: where it has to be, or where it may and that is wanted. */
  async #runsAsTask(name: string, wanted: boolean, options: CallOptions): Promise<boolean> {
    const { tools } = this.#requests;
    if (!tools.isLearned) await this.#requests.listTools(limitsOf(options));
    const support = tools.taskSupport(name);
    return support === "required" || (support === "optional" && wanted);
  }

  async #send(name: string, args: object, options: CallOptions, asTask: boolean): Promise<Answer> {
    const { tools } = this.#requests;
    if (tools.get(name)?.isReady === false) await tools.get(name)?.prepare();
    const question = callOf(name, args, options.continuation);
    if (asTask) return this.#sendAsTask(name, question.members, args, options);
    const result = await this.#requests.call(question, args, options);
    const task = result.resultType === "task" ? createdTask(result) : undefined;
    return { result, task, token: undefined };
  }

  /** Its progress goes on after the answer: it is told under a name of its own (2025-11-25, basic/utilities/tasks). */
  async #sendAsTask(name: string, call: string, args: object, options: CallOptions): Promise<Answer> {
    const { ttl, onProgress, ...others } = options;
    const members = `${call},"task":${ttl === undefined ? "{}" : JSON.stringify({ ttl })}`;
    if (onProgress === undefined) {
      const result = await this.#requests.call({ method: "tools/call", members, name }, args, others);
      return { result, task: createdTask(result), token: undefined };
    }
    const token = `task-${++this.#tokens}`;
    const meta = `"progressToken":${JSON.stringify(token)}`;
    // A server may answer at once all the same.
    const tellProgress = progressTeller(onProgress);
    const unhear = this.#conversation.hear((method, params) => {
      if (method === "notifications/progress" && params.progressToken === token) tellProgress(params);
    });
    try {
      const result = await this.#requests.call({ method: "tools/call", members, meta, name }, args, others);
      return { result, task: createdTask(result), token };
    } finally {
      unhear();
    }
  }

  async #follow(
    name: string | undefined,
    taskId: string,
    options: CallOptions = {},
    known?: Task,
    token?: string,
  ): Promise<CallToolResult> {
    const maxTaskTime = options.maxTaskTime ?? this.#conversation.settings.maxTaskTime;
    const methods = this.#methods();
    const result = await within(maxTaskTime, options.signal, (signal) =>
      methods.follow(taskId, options, signal, known, token),
    );
    return this.#checked(name, result);
  }

  #checked(name: string | undefined, result: JsonObject): CallToolResult | Promise<CallToolResult> {
    arrayOf("tools/call", result, "content", isContentBlock);
    const known = name === undefined ? undefined : this.#requests.tools.get(name);
    const checked = () => {
      known?.check(result);
      return result as unknown as CallToolResult;
    };
    // It may have been listed again meanwhile.
    return known?.isReady === false ? known.prepare().then(checked) : checked();
  }

  /** A task that was made of a call which was given up meanwhile. */
  #orphaned(result: JsonObject): void {
    try {
      const task = createdTask(result);
      if (task !== undefined) this.#abandon(task.taskId);
    } catch {
      // What cannot be named cannot be cancelled.
    }
  }

  #abandon(taskId: string): void {
    if (!this.#cancels) return;
    this.#methods()
      .cancel(taskId)
      .catch(() => {
        // It may be over, or the connection: nobody waits for it any more.
      });
  }
}

function callOf(name: string, args: object, continuation?: Continuation): Question {
  const members = `"name":${JSON.stringify(name)},"arguments":${JSON.stringify(args)}`;
  const goesOn = continuation === undefined ? "" : membersOf({ ...continuation });
  return { method: "tools/call", members: goesOn === "" ? members : `${members},${goesOn}`, name };
}

/** A revision without tasks answers each call at once. */
const NO_TASKS: TaskMethods = {
  get: unknownTask,
  cancel: unknownTask,
  follow: unknownTask,
};

function unknownTask(): Promise<never> {
  return Promise.reject(new TypeError("This server has no tasks: its revision is older than they are"));
}

function answeredAtOnce(result: CallToolResult): ToolTask {
  const now = new Date().toISOString();
  return {
    taskId: undefined,
    get: async () => ({
      taskId: "",
      status: "completed",
      createdAt: now,
      lastUpdatedAt: now,
      ttlMs: null,
    }),
    result: async () => result,
    cancel: async () => {},
  };
}

function limitsOf({ signal, timeout, maxTimeout }: CallOptions): RequestOptions {
  return {
    ...(signal !== undefined && { signal }),
    ...(timeout !== undefined && { timeout }),
    ...(maxTimeout !== undefined && { maxTimeout }),
  };
}
