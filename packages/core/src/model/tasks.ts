/** Tasks: requests whose results are fetched later (extension io.modelcontextprotocol/tasks; SEP-2663). */

import type { ErrorObject } from "../errors.ts";
import type { Result } from "./base.ts";
import type { InputRequests, InputResponses } from "./input.ts";

/** The extension's identifier; an empty object under it means support. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** The last three are terminal: a task that has one keeps it. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** True for a status that a task keeps. */
export function isTerminal(status: TaskStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

export interface Task {
  taskId: string;
  status: TaskStatus;
  /** What goes on, for people and models to read. */
  statusMessage?: string;
  /** ISO 8601. */
  createdAt: string;
  /** ISO 8601. */
  lastUpdatedAt: string;
  /** Milliseconds from its creation for which it is kept; null for ever. */
  ttlMs: number | null;
  /** Milliseconds to wait between two looks at it. */
  pollIntervalMs?: number;
}

/** A task with what its status brings along: the answer to `tasks/get`, and what `notifications/tasks` holds. */
export type DetailedTask = Task &
  (
    | { status: "working" | "cancelled" }
    | { status: "input_required"; inputRequests: InputRequests }
    | { status: "completed"; result: Result }
    | { status: "failed"; error: ErrorObject }
  );

/** The answer to a request that goes on as a task. */
export interface CreateTaskResult extends Result, Task {
  resultType: "task";
}

/** The parameters of `tasks/update`. */
export interface UpdateTaskParams {
  taskId: string;
  inputResponses: InputResponses;
}

/** A task as 2025-11-25 spells it (basic/utilities/tasks); there a tool's result with `isError` means `failed`. */
export interface LegacyTask extends Omit<Task, "ttlMs" | "pollIntervalMs"> {
  ttl: number | null;
  pollInterval?: number;
}

/** The answer to a request that was sent with `task` (2025-11-25). */
export interface LegacyCreateTaskResult extends Result {
  task: LegacyTask;
}

/** Whether a tool runs as a task in 2025-11-25; `forbidden` when it does not say. */
export type TaskSupport = "forbidden" | "optional" | "required";
