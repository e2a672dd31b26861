/** Tasks as 2025-11-25 has them, an experiment there (basic/utilities/tasks). */

import {
  ErrorCode,
  type InputRequest,
  isObject,
  isTerminal,
  type JsonObject,
  type LegacyCreateTaskResult,
  type LegacyTask,
  META,
  ProtocolError,
  type Result,
  writeNotification,
} from "@patchbay/core";
import { type Call, countedAs } from "../exchange.ts";
import type { SessionRecord } from "../legacy/session.ts";
import type { McpServer } from "../server.ts";
import type { TaskMaker } from "./call.ts";
import type { Hearing } from "./run.ts";
import type { TaskRecord } from "./store.ts";
import { openInputs, type Tasks } from "./tasks.ts";

/** Methods of tasks. */
type TaskMethod = "tasks/get" | "tasks/result" | "tasks/list" | "tasks/cancel";

/** Whether a session has tasks: they belong to it, so there has to be one, and its revision has to know them. */
export function hasTasks(server: McpServer, { key, revision }: SessionRecord): boolean {
  return server.tasks.offered && key !== undefined && revision === "2025-11-25";
}

/**
 * Makes a call that carries `task` a task.
 *
 * @throws ProtocolError (−32602) for a `task` that is none
 */
export function demandedTask(
  server: McpServer,
  { task }: JsonObject,
  { caller }: Call,
  session: SessionRecord,
): TaskMaker {
  if (!isObject(task)) throw new ProtocolError(ErrorCode.InvalidParams, '"task" must be an object');
  const { ttl } = task;
  if (ttl !== undefined && ttl !== null && !(Number.isInteger(ttl) && Number(ttl) > 0)) {
    throw new ProtocolError(
      ErrorCode.InvalidParams,
      '"task.ttl" must be a positive whole number of milliseconds',
    );
  }
  const owner = session.key as string;
  return {
    demanded: true,
    make: (options) =>
      server.tasks.make({
        caller,
        owner,
        options,
        // Who asks for ever is given the most there is.
        ttl: ttl === null ? Number.POSITIVE_INFINITY : (ttl as number | undefined),
        hearing: sessionHearing(server.tasks, owner),
      }),
    created: ({ record }): LegacyCreateTaskResult => ({ task: legacyTask(record) }),
  };
}

/**
 * Answers what a session asks about its tasks.
 *
 * @throws ProtocolError (−32602) for a task that is not the session's, or cannot be cancelled any more
 */
export async function legacyTaskReply(
  { tasks, rates }: McpServer,
  method: TaskMethod,
  params: JsonObject,
  call: Call,
  session: SessionRecord,
): Promise<Result> {
  rates.tasks.pass(countedAs(call));
  const owner = session.key as string;
  const { taskId } = params;
  switch (method) {
    case "tasks/get":
      return { ...legacyTask(await tasks.get(taskId, owner)) };
    case "tasks/result":
      return result(tasks, (await tasks.get(taskId, owner)).id, owner, call);
    case "tasks/list": {
      const { tasks: page, ...next } = await tasks.list(owner, params.cursor);
      return { tasks: page.map(legacyTask), ...next };
    }
    case "tasks/cancel": {
      const { task, cancelled } = await tasks.cancel(taskId, owner);
      if (cancelled) return { ...legacyTask(task) };
      const { status } = legacyTask(task);
      throw new ProtocolError(
        ErrorCode.InvalidParams,
        `Cannot cancel the task: it is over already (${status})`,
      );
    }
  }
}

/** Tells a session what its tasks have to say, until that is ended. */
export function tellTasks(
  server: McpServer,
  session: SessionRecord | undefined,
  send: (text: string) => void,
): () => void {
  if (session === undefined || !hasTasks(server, session)) return () => {};
  return server.tasks.audience.add(session.key as string, (method, params) =>
    send(writeNotification(method, params)),
  );
}

/** Who waits for the result hears first: that is the connection which is there for it. */
function sessionHearing({ audience }: Tasks, owner: string): Hearing {
  const tell = (id: string, method: string, params: object) => {
    if (!audience.tell(id, method, params)) audience.tell(owner, method, params);
  };
  return {
    notify: (id, method, params) => tell(id, method, related(params, id)),
    changed: (record) => tell(record.id, "notifications/tasks/status", legacyTask(record)),
  };
}

/**
 * Waits for a task to be over; its questions go out the way that this request's answer will
 * (§ Input Required Status). Who asks last is who is asked.
 */
function result(tasks: Tasks, id: string, owner: string, call: Call): Promise<Result> {
  const { signal, dialogue } = call;
  return new Promise((resolve, reject) => {
    const asked = new Set<string>();
    const ask = async (key: string, request: InputRequest) => {
      try {
        const params = related(request.params ?? {}, id);
        await tasks.answer(id, owner, { [key]: await dialogue.ask({ ...request, params } as InputRequest) });
      } catch (thrown) {
        // A client that only stopped waiting may come back, and is asked again.
        if (!signal.aborted && tasks.fetching.get(id) === call)
          await tasks.giveUp(id, key, (thrown as Error).message);
      }
    };
    const end = () => {
      unwatch();
      silence();
      signal.removeEventListener("abort", onAbort);
      if (tasks.fetching.get(id) === call) tasks.fetching.delete(id);
    };
    const fail = (thrown: unknown) => {
      end();
      reject(thrown);
    };
    // Nobody is told: the client wants no answer any more.
    const onAbort = () => {
      end();
      resolve({});
    };
    const look = (record: TaskRecord | undefined) => {
      if (record === undefined || isTerminal(record.status)) {
        end();
        return settle(record, resolve, reject);
      }
      for (const [key, request] of Object.entries(openInputs(record))) {
        if (asked.has(key)) continue;
        asked.add(key);
        ask(key, request).catch(fail);
      }
    };
    if (signal.aborted) return resolve({});
    tasks.fetching.set(id, call);
    const silence = tasks.audience.add(id, (method, params) => call.notify(method, params));
    const unwatch = tasks.watch(id, look);
    signal.addEventListener("abort", onAbort, { once: true });
    // It may have changed before it was watched.
    tasks.get(id, owner).then(look, fail);
  });
}

/** What the request would have been answered with, had it not become a task. */
function settle(
  record: TaskRecord | undefined,
  resolve: (result: Result) => void,
  reject: (cause: Error) => void,
): void {
  if (record?.result !== undefined) return resolve(related(record.result, record.id));
  const { code, message, data } = record?.error ?? {
    code: ErrorCode.InvalidParams,
    message: record === undefined ? "The task has expired" : "The task was cancelled: it has no result",
    data: undefined,
  };
  reject(new ProtocolError(code, message, data));
}

/** With the task that it belongs to (§ Related Task Metadata). */
function related(value: object, taskId: string): JsonObject {
  const { _meta, ...rest } = value as JsonObject;
  return { ...rest, _meta: { ...(isObject(_meta) && _meta), [META.relatedTask]: { taskId } } };
}

/** A task as this revision spells it: there a tool that says it failed has failed. */
function legacyTask({
  id,
  result,
  createdAt,
  lastUpdatedAt,
  ttl,
  pollInterval,
  ...record
}: TaskRecord): LegacyTask {
  const failed = result?.isError === true;
  const statusMessage = record.statusMessage ?? (failed ? firstText(result) : undefined);
  return {
    taskId: id,
    status: failed ? "failed" : record.status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(lastUpdatedAt).toISOString(),
    ttl,
    pollInterval,
  };
}

function firstText(result: TaskRecord["result"]): string | undefined {
  const block = result?.content.find(({ type }) => type === "text");
  return block?.type === "text" ? block.text : undefined;
}
