/** What a server says of a task, checked, in the newest spelling: what follows relies on it. */

import {
  type DetailedTask,
  isObject,
  isTerminal,
  type JsonObject,
  ProtocolError,
  type Task,
  type TaskStatus,
} from "@patchbay/core";
import { InvalidResponseError, readable } from "../errors.ts";
import { tell } from "../tell.ts";

/** Characters of an id: longer ones are no use as a header, or in a store. */
const LONGEST_ID = 1024;
const STATUSES: ReadonlySet<unknown> = new Set<TaskStatus>([
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled",
]);

/** The task that a call was answered with, in the spelling of either revision; nothing when it is no task. */
export function createdTask(result: JsonObject): Task | undefined {
  if (result.resultType === "task") return readTask("tools/call", result);
  // A result of 2025-11-25 has either content or a task.
  return isObject(result.task) && result.content === undefined
    ? readTask("tools/call", result.task)
    : undefined;
}

/**
 * Reads a task.
 *
 * @param expected the id that was asked for
 * @throws InvalidResponseError that says what is wrong with it
 */
export function readTask(method: string, value: JsonObject, expected?: string): Task {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt } = value;
  if (typeof taskId !== "string" || taskId === "" || taskId.length > LONGEST_ID)
    throw invalid(method, "it has no taskId");
  if (expected !== undefined && taskId !== expected)
    throw invalid(method, `it is about ${readable(JSON.stringify(taskId), 60)}, not about the one asked for`);
  if (!STATUSES.has(status))
    throw invalid(method, `no status is called ${readable(JSON.stringify(status ?? null), 40)}`);
  const pollIntervalMs = value.pollIntervalMs ?? value.pollInterval;
  const ttlMs = value.ttlMs ?? value.ttl;
  return {
    taskId,
    status: status as TaskStatus,
    ...(typeof statusMessage === "string" && { statusMessage }),
    createdAt: typeof createdAt === "string" ? createdAt : "",
    lastUpdatedAt: typeof lastUpdatedAt === "string" ? lastUpdatedAt : "",
    ttlMs: typeof ttlMs === "number" ? ttlMs : null,
    ...(typeof pollIntervalMs === "number" && pollIntervalMs > 0 && { pollIntervalMs }),
  };
}

/**
 * Reads a task with what its status brings along (SEP-2663 § Task Status).
 *
 * @throws InvalidResponseError that says what is wrong with it
 */
export function readDetailed(method: string, value: JsonObject, expected: string): DetailedTask {
  const task = readTask(method, value, expected);
  const { result, error, inputRequests } = value;
  switch (task.status) {
    case "completed":
      if (!isObject(result)) throw invalid(method, "it is completed, and has no result");
      return { ...task, status: "completed", result };
    case "failed":
      if (!isObject(error) || typeof error.code !== "number" || typeof error.message !== "string")
        throw invalid(method, "it has failed, and has no error");
      return { ...task, status: "failed", error: { ...error, code: error.code, message: error.message } };
    case "input_required":
      if (!isObject(inputRequests)) throw invalid(method, "it needs input, and has no inputRequests");
      // Each question is looked at before it is asked.
      return { ...task, status: "input_required", inputRequests } as unknown as DetailedTask;
    default:
      return { ...task, status: task.status };
  }
}

/** A task's error as if the call itself had been answered with it. */
export function failureOf({ error }: DetailedTask & { status: "failed" }): ProtocolError {
  return new ProtocolError(error.code, readable(error.message, 2_000), error.data);
}

/** Tells of a task when there is something new to tell; never again once it is over. */
export function statusTeller(onStatus: ((task: Task) => void) | undefined): (task: Task) => void {
  let last: string | undefined;
  let over = false;
  return ({ taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs }) => {
    const now = JSON.stringify([status, statusMessage]);
    if (over || now === last) return;
    last = now;
    over = isTerminal(status);
    tell(onStatus, {
      taskId,
      status,
      ...(statusMessage !== undefined && { statusMessage: readable(statusMessage, 1_000) }),
      createdAt,
      lastUpdatedAt,
      ttlMs,
      ...(pollIntervalMs !== undefined && { pollIntervalMs }),
    });
  };
}

function invalid(method: string, what: string): InvalidResponseError {
  return new InvalidResponseError(`${method}: the server's task is not valid: ${what}`);
}
