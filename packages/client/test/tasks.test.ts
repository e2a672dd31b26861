/** Calls that go on as tasks, with servers whose every answer is written here, and with those that lie. */

import type { JsonObject, Task } from "@patchbay/core";
import { describe, expect, test, vi } from "vitest";
import { type ConnectOptions, connect, InvalidResponseError } from "../src/index.ts";
import { httpFixture, json, result, rpcError } from "./fixtures/http.ts";
import { type Asked, LEGACY, MODERN, type Script, scripted } from "./scripted.ts";
import { ASKED, DONE, paramsOf, promised, sent, TIMES } from "./tasks.ts";

const TASK = { taskId: "t1", status: "working", ...TIMES, ttlMs: 60_000, pollIntervalMs: 1 };
const CREATED = { resultType: "task", ...TASK };

/** Connects to a modern server whose calls become tasks, and whose looks are answered one after the other. */
async function modern(looks: JsonObject[], more: Script = {}, options: ConnectOptions = {}) {
  let look = 0;
  const server = scripted({
    ...MODERN,
    "tools/call": () => CREATED,
    "tasks/get": () => ({ ...TASK, ...looks[Math.min(look++, looks.length - 1)] }),
    "tasks/cancel": () => ({}),
    "tasks/update": () => ({}),
    "subscriptions/listen": () => {
      throw { code: -32601, message: "Method not found" };
    },
    ...more,
  });
  return { client: await connect(server, { tasks: true, ...options }), received: server.received };
}

describe("a modern server", () => {
  test("is told that tasks are taken, beside what else is declared", async () => {
    const { received } = await modern([{}], {}, { extensions: { "a/b": {} } });
    expect(paramsOf(received[0])).toHaveProperty(
      ["_meta", "io.modelcontextprotocol/clientCapabilities", "extensions"],
      { "io.modelcontextprotocol/tasks": {}, "a/b": {} },
    );
    const old = scripted(LEGACY);
    await connect(old, { tasks: true });
    expect(paramsOf(old.received[1]).capabilities).toEqual({});
  });

  test("is looked at until the result is there", async () => {
    const { client, received } = await modern([
      {},
      { statusMessage: "half" },
      { statusMessage: "half" },
      { status: "completed", result: DONE },
    ]);
    const told: Task[] = [];
    expect(await client.callTool("a", {}, { onStatus: (task) => told.push(task) })).toEqual(DONE);
    expect(told.map(({ status, statusMessage }) => [status, statusMessage])).toEqual([
      ["working", undefined],
      ["working", "half"],
      ["completed", undefined],
    ]);
    expect(sent(received, "tasks/get").map(({ params }) => (params as JsonObject).taskId)).toEqual(
      Array(4).fill("t1"),
    );
    expect(sent(received, "tasks/cancel")).toEqual([]);
  });

  test("may answer at once all the same", async () => {
    const { client, received } = await modern([{}], { "tools/call": () => DONE });
    expect(await client.callTool("a")).toEqual(DONE);
    const task = await client.startTool("a");
    expect(task.taskId).toBeUndefined();
    expect(await task.get()).toMatchObject({ status: "completed" });
    expect(await task.result()).toEqual(DONE);
    await task.cancel();
    expect(received.some(({ method }) => String(method).startsWith("tasks/"))).toBe(false);
  });

  test("that tells of the task is not asked for it", async () => {
    const opened = promised<Asked>();
    const { client, received } = await modern([{}], {
      "subscriptions/listen": (asked) => {
        const _meta = { "io.modelcontextprotocol/subscriptionId": asked.id };
        asked.notify("notifications/subscriptions/acknowledged", {
          _meta,
          notifications: { taskIds: ["t1"] },
        });
        opened.resolve(asked);
        return undefined;
      },
      "tasks/get": () => undefined,
    });
    const called = client.callTool("a");
    const { id, notify } = await opened.promise;
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    notify("notifications/tasks", { _meta, ...TASK, taskId: "other", status: "completed", result: {} });
    notify("notifications/tasks", { _meta, ...TASK, status: "completed", result: DONE });
    expect(await called).toEqual(DONE);
    await client.ping();
    // The subscription ends with the task.
    expect(sent(received, "notifications/cancelled").map(paramsOf)).toMatchObject([{ requestId: id }]);
  });

  test("has its questions answered, each once", async () => {
    const answered = promised();
    const open = { status: "input_required", inputRequests: ASKED };
    const onElicit = vi.fn(() => ({ action: "accept" as const, content: {} }));
    let looks = 0;
    const { client, received } = await modern(
      [],
      {
        "tasks/get": (asked) => {
          // It takes a while until the answer is seen.
          if (looks++ < 2) return { ...TASK, ...open };
          answered.promise.then(() => asked.answer({ ...TASK, status: "completed", result: DONE }));
          return undefined;
        },
        "tasks/update": () => {
          answered.resolve();
          return {};
        },
      },
      { onElicit },
    );
    expect(await client.callTool("a")).toEqual(DONE);
    expect(onElicit).toHaveBeenCalledTimes(1);
    expect(sent(received, "tasks/update").map(paramsOf)).toMatchObject([
      { taskId: "t1", inputResponses: { who: { action: "accept", content: {} } } },
    ]);
  });

  test("whose task ends while the user thinks does not wait for the answer", async () => {
    const aborted = promised();
    const { client } = await modern(
      [
        { status: "input_required", inputRequests: ASKED },
        { status: "completed", result: DONE },
      ],
      {},
      {
        onElicit: (_, { signal }) => {
          signal.addEventListener("abort", () => aborted.resolve());
          return new Promise(() => {});
        },
      },
    );
    expect(await client.callTool("a")).toEqual(DONE);
    await aborted.promise;
  });

  test("whose question nobody can answer has its task cancelled", async () => {
    const { client, received } = await modern([{ status: "input_required", inputRequests: ASKED }]);
    await expect(client.callTool("a")).rejects.toThrow("declared no capability");
    expect(sent(received, "tasks/cancel")).toHaveLength(1);
  });

  test("may not ask without end", async () => {
    let question = 0;
    const { client } = await modern(
      [],
      {
        "tasks/get": () => ({
          ...TASK,
          status: "input_required",
          inputRequests: { [`q${question++}`]: ASKED.who },
        }),
      },
      { onElicit: () => ({ action: "decline" }), maxRounds: 2 },
    );
    await expect(client.callTool("a")).rejects.toThrow("maxRounds allows (2)");
  });

  test("whose task failed rejects with its error, and one that was cancelled says so", async () => {
    const error = { code: -32_000, message: "no disk", data: { why: 1 } };
    const failed = await modern([{ status: "failed", error }]);
    await expect(failed.client.callTool("a")).rejects.toMatchObject({ name: "ProtocolError", ...error });
    const { client, received } = await modern([{ status: "cancelled" }]);
    await expect(client.callTool("a")).rejects.toMatchObject({ name: "TaskCancelledError", taskId: "t1" });
    expect(sent(received, "tasks/cancel")).toEqual([]);
  });

  test("hears that a call was given up, and it is not waited for", async () => {
    const looked = promised();
    const { client, received } = await modern([], {
      "tasks/get": () => {
        looked.resolve();
        return undefined;
      },
    });
    const stop = new AbortController();
    const called = client.callTool("a", {}, { signal: stop.signal });
    await looked.promise;
    stop.abort(new Error("Enough"));
    await expect(called).rejects.toThrow("Enough");
    await client.ping();
    expect(sent(received, "tasks/cancel").map(paramsOf)).toMatchObject([{ taskId: "t1" }]);
  });

  test("that makes a task of a call which was given up already has it cancelled", async () => {
    const called = promised<Asked>();
    const cancelled = promised();
    const { client, received } = await modern([], {
      "tools/call": (asked) => {
        called.resolve(asked);
        return undefined;
      },
      "tasks/cancel": () => {
        cancelled.resolve();
        return {};
      },
    });
    const stop = new AbortController();
    const work = client.callTool("a", {}, { signal: stop.signal }).catch((error: Error) => error.message);
    const { answer } = await called.promise;
    stop.abort(new Error("Enough"));
    expect(await work).toBe("Enough");
    answer(CREATED);
    await cancelled.promise;
    // Once.
    answer(CREATED);
    await client.ping();
    expect(sent(received, "tasks/cancel")).toHaveLength(1);
  });

  test("has its task left alone when only the waiting is given up", async () => {
    const { client, received } = await modern([{}, {}, { status: "completed", result: DONE }]);
    const task = await client.startTool("a");
    expect(task.taskId).toBe("t1");
    expect(await task.get()).toMatchObject({ taskId: "t1", status: "working" });
    await expect(task.result({ signal: AbortSignal.abort(new Error("Enough")) })).rejects.toThrow("Enough");
    await expect(task.result({ maxTaskTime: 0 })).rejects.toMatchObject({
      name: "TimeoutError",
      limit: "maxTaskTime",
    });
    expect(await client.task("t1").result()).toEqual(DONE);
    expect(sent(received, "tasks/cancel")).toEqual([]);
    await client.task("t1").cancel();
    expect(sent(received, "tasks/cancel")).toHaveLength(1);
  });

  test("is asked again where an answer was lost", async () => {
    let looks = 0;
    const { client } = await modern([], {
      "tasks/get": () => (looks++ === 0 ? undefined : { ...TASK, status: "completed", result: DONE }),
    });
    expect(await client.callTool("a", {}, { timeout: 50 })).toEqual(DONE);
    expect(looks).toBe(2);
  });

  test.each<[string, JsonObject, string]>([
    ["no id", { ...CREATED, taskId: 5 }, "no taskId"],
    ["an id that is none", { ...CREATED, taskId: "" }, "no taskId"],
    ["no such status", { ...CREATED, status: "dreaming" }, "dreaming"],
  ])("that makes a task with %s is refused", async (_what, created, message) => {
    const { client } = await modern([{}], { "tools/call": () => created });
    const error = await client.callTool("a").catch((thrown) => thrown);
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toContain(message);
  });

  test.each<[string, JsonObject, string]>([
    ["another task", { taskId: "t2" }, "not about the one asked for"],
    ["a result that is not there", { status: "completed" }, "has no result"],
    ["a result without content", { status: "completed", result: {} }, '"content"'],
    ["an error that is not there", { status: "failed" }, "has no error"],
    ["questions that are not there", { status: "input_required" }, "has no inputRequests"],
    ["questions that are none", { status: "input_required", inputRequests: { a: 1 } }, "no request"],
  ])("that tells of %s is refused, and the task given up", async (_what, look, message) => {
    const { client, received } = await modern([look]);
    const error = await client.callTool("a").catch((thrown) => thrown);
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toContain(message);
    expect(sent(received, "tasks/cancel")).toHaveLength(1);
  });

  test("may make tasks of calls alone, and of clients alone that take them", async () => {
    const read = await modern([{}], { "resources/read": () => CREATED });
    await expect(read.client.readResource("a:b")).rejects.toThrow("unknown resultType");
    const shy = await modern([{}], {}, { tasks: false });
    await expect(shy.client.callTool("a")).rejects.toThrow("unknown resultType");
    await expect(shy.client.startTool("a")).rejects.toThrow("tasks: true");
    expect(() => shy.client.task("t1")).toThrow("tasks: true");
  });
});

describe("over HTTP", () => {
  test("requests about a task name it, and one whose answer was lost is sent again", async () => {
    let looks = 0;
    const server = await httpFixture((hit) => {
      switch (hit.message.method) {
        case "server/discover":
          return result(hit, { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
        case "tools/call":
          return result(hit, CREATED);
        case "tasks/get":
          if (++looks === 1) return void hit.response.destroy();
          if (looks === 2) return json(hit, {}, 503);
          return result(hit, { ...TASK, status: "completed", result: DONE });
        default:
          return rpcError(hit, 404, -32601);
      }
    });
    const client = await connect(server.url, { tasks: true });
    expect(await client.callTool("a")).toEqual(DONE);
    const named = server.hits.filter(({ message }) => message.method === "tasks/get");
    expect(named.map(({ headers }) => headers["mcp-name"])).toEqual(["t1", "t1", "t1"]);
    await client.close();
    await server.close();
  });

  test("a refusal is no lost answer", async () => {
    const server = await httpFixture((hit) => {
      switch (hit.message.method) {
        case "server/discover":
          return result(hit, { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
        case "tools/call":
          return result(hit, CREATED);
        default:
          return json(hit, {}, 403);
      }
    });
    const client = await connect(server.url, { tasks: true });
    await expect(client.callTool("a")).rejects.toMatchObject({ name: "ConnectionError", status: 403 });
    expect(server.hits.filter(({ message }) => message.method === "tasks/get")).toHaveLength(1);
    await client.close();
    await server.close();
  });
});
