/** Tasks as the extension io.modelcontextprotocol/tasks has them (SEP-2663). */

import {
  type CreateTaskResult,
  type DetailedTask,
  ErrorCode,
  isObject,
  type JsonObject,
  MissingCapabilityError,
  ProtocolError,
  type Result,
  TASKS_EXTENSION,
  type Task,
} from "@patchbay/core";
import { type Call, type Caller, type ClientDescription, countedAs } from "../exchange.ts";
import type { McpServer } from "../server.ts";
import type { TaskMaker } from "./call.ts";
import type { TaskRecord } from "./store.ts";
import { openInputs } from "./tasks.ts";

/** Progress and log messages are not part of the extension; changes are told to who subscribes to them. */
const HEARS_NOTHING = { notify() {}, changed() {} };

/** Makes a call a task, where its client said with this request that it takes one. */
export function taskMaker(server: McpServer, { caller }: Call): TaskMaker | undefined {
  if (!takesTasks(caller.client)) return undefined;
  return {
    demanded: false,
    make: (options) => server.tasks.make({ caller, owner: ownerOf(caller), options, hearing: HEARS_NOTHING }),
    created: ({ record }): CreateTaskResult => ({ resultType: "task", ...taskOf(record) }),
  };
}

/**
 * Answers `tasks/get`, `tasks/update` and `tasks/cancel`.
 *
 * @throws ProtocolError −32021 for a client that did not declare the extension, −32602 for a task it does not have
 */
export async function modernTaskReply(
  { tasks, rates }: McpServer,
  method: "tasks/get" | "tasks/update" | "tasks/cancel",
  params: JsonObject,
  { caller }: Call,
): Promise<Result> {
  rates.tasks.pass(countedAs(caller));
  requireTasks(caller.client);
  const owner = ownerOf(caller);
  switch (method) {
    case "tasks/get":
      return { ...detailedTask(await tasks.get(params.taskId, owner)) };
    case "tasks/cancel":
      await tasks.cancel(params.taskId, owner);
      return {};
    case "tasks/update": {
      const { taskId, inputResponses } = params;
      if (!isObject(inputResponses)) {
        throw new ProtocolError(ErrorCode.InvalidParams, '"inputResponses" must be an object');
      }
      await tasks.answer(taskId, owner, inputResponses);
      return {};
    }
  }
}

/**
 * Those of the tasks that a client may be told of.
 *
 * @throws MissingCapabilityError (−32021) for a client that did not declare the extension
 */
export async function knownTasks({ tasks }: McpServer, ids: string[], { caller }: Call): Promise<string[]> {
  requireTasks(caller.client);
  const known = await Promise.all(
    [...new Set(ids)].map((id) =>
      tasks.get(id, ownerOf(caller)).then(
        () => [id],
        (thrown) => {
          if (thrown instanceof ProtocolError) return [];
          throw thrown;
        },
      ),
    ),
  );
  return known.flat();
}

/**
 * Tells of a task as it is now, and of each change: a client that subscribes late has missed nothing.
 *
 * @returns ends it
 */
export function tellTask(
  { tasks }: McpServer,
  id: string,
  { caller }: Call,
  tell: (task: DetailedTask) => void,
): () => void {
  let told = false;
  const unwatch = tasks.watch(id, (record) => {
    told = true;
    if (record !== undefined) tell(detailedTask(record));
  });
  tasks.get(id, ownerOf(caller)).then(
    (record) => told || tell(detailedTask(record)),
    () => {},
  );
  return unwatch;
}

/** @throws MissingCapabilityError (−32021) for a client that did not declare the extension with this request */
function requireTasks(client: ClientDescription): void {
  if (!takesTasks(client))
    throw new MissingCapabilityError("tasks", { extensions: { [TASKS_EXTENSION]: {} } });
}

/** Whose a modern client's tasks are: the principal's, or where nothing is known of who asks, whoever's knows their ids. */
function ownerOf({ access }: Caller): string {
  return access?.principal ?? "";
}

/** A task with what its status brings along. */
function detailedTask(record: TaskRecord): DetailedTask {
  const task = taskOf(record);
  switch (record.status) {
    case "input_required":
      return { ...task, status: "input_required", inputRequests: openInputs(record) };
    case "completed":
      return { ...task, status: "completed", result: record.result as Result };
    case "failed":
      return {
        ...task,
        status: "failed",
        error: record.error ?? { code: ErrorCode.InternalError, message: "" },
      };
    default:
      return { ...task, status: record.status };
  }
}

function taskOf({
  id,
  status,
  statusMessage,
  createdAt,
  lastUpdatedAt,
  ttl,
  pollInterval,
}: TaskRecord): Task {
  return {
    taskId: id,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(lastUpdatedAt).toISOString(),
    ttlMs: ttl,
    pollIntervalMs: pollInterval,
  };
}

function takesTasks({ capabilities }: ClientDescription): boolean {
  return isObject(capabilities.extensions) && isObject(capabilities.extensions[TASKS_EXTENSION]);
}
