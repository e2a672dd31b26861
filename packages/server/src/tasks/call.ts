/** Calls of tools that may run as tasks: the same handler, whatever its client takes. */

import {
  type CallToolResult,
  ErrorCode,
  type JsonObject,
  ProtocolError,
  type Result,
  TaskRequiredError,
} from "@patchbay/core";
import { Context } from "../context.ts";
import type { Exchange } from "../exchange.ts";
import type { TaskRun } from "./run.ts";
import type { TaskOptions } from "./tasks.ts";

/** Makes a request a task: an exchange has it where its client takes one. */
export interface TaskMaker {
  /** Whether the client insists (2025-11-25); else the server decides. */
  readonly demanded: boolean;
  /** @throws ProtocolError (−32600) that names the limit, when there are too many */
  make(options: TaskOptions): Promise<TaskRun>;
  /** What the request is answered with, once it is a task. */
  created(run: TaskRun): Result;
}

/**
 * Calls a tool that may run as a task, or that its client wants to.
 *
 * @param options nothing where the tool does not run as a task
 * @throws ProtocolError when the client and the tool do not agree about that
 */
export function callAsTask(
  name: string,
  options: TaskOptions | undefined,
  params: JsonObject,
  exchange: Exchange,
  run: (context: Context) => Promise<CallToolResult>,
): Promise<Result> {
  const { tasks } = exchange;
  if (options === undefined) {
    throw new ProtocolError(
      ErrorCode.MethodNotFound,
      `${name} does not run as a task: call it without "task"`,
    );
  }
  if (tasks === undefined) {
    if (options.required) throw new TaskRequiredError(name);
    return run(new Context(exchange, params));
  }
  return options.deferred && !tasks.demanded
    ? untilDeferred(options, tasks, params, exchange, run)
    : atOnce(options, tasks, params, exchange, run);
}

async function atOnce(
  options: TaskOptions,
  tasks: TaskMaker,
  params: JsonObject,
  exchange: Exchange,
  run: (context: Context) => Promise<CallToolResult>,
): Promise<Result> {
  const task = await tasks.make(options);
  if (abandonedWith(exchange, task)) return {};
  task.follow(() => run(new Context(task, params)));
  return tasks.created(task);
}

/**
 * A task is cancelled when its call is before it was answered: nobody has heard of it, so nobody could.
 *
 * @returns whether that is so already
 */
function abandonedWith({ signal }: Exchange, task: TaskRun): boolean {
  const abandon = () => task.abandon();
  if (signal.aborted) abandon();
  else signal.addEventListener("abort", abandon, { once: true });
  return signal.aborted;
}

/** The handler begins in the call itself, and goes on in a task when it defers. */
function untilDeferred(
  options: TaskOptions,
  tasks: TaskMaker,
  params: JsonObject,
  exchange: Exchange,
  run: (context: Context) => Promise<CallToolResult>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const context = new Context(exchange, params, async () => {
      exchange.signal.throwIfAborted();
      const task = await tasks.make(options);
      if (abandonedWith(exchange, task)) throw exchange.signal.reason;
      task.follow(() => work);
      resolve(tasks.created(task));
      // The client should know of the task before it hears of it.
      await new Promise((next) => setTimeout(next, 0));
      return task;
    });
    const work = run(context);
    work.then(resolve, reject);
  });
}
