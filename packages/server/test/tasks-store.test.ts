/** Where tasks live: each as long as it may, no more than may, and nothing held of those that are gone. */

import { LATEST_LEGACY, wireOf } from "@patchbay/core";
import { afterEach, expect, test, vi } from "vitest";
import { McpServer, memoryTasks } from "../src/index.ts";
import { Tasks, taskOptions } from "../src/tasks/tasks.ts";
import { describeTaskStore, task } from "./task-stores.ts";

const CALLER = {
  wire: wireOf(LATEST_LEGACY),
  client: { info: undefined, capabilities: { elicitation: {} } },
  logLevel: undefined,
};
const HEARS_NOTHING = { notify() {}, changed() {} };

afterEach(() => {
  vi.useRealTimers();
});

describeTaskStore("in memory", {
  open: async (options) => {
    vi.useFakeTimers();
    return memoryTasks(options);
  },
  pass: async (ms) => void vi.advanceTimersByTime(ms),
});

test("in memory what nobody asks for is forgotten too, and then no timer runs", async () => {
  vi.useFakeTimers();
  const store = memoryTasks({ sweepEvery: 10_000 });
  const gone = vi.fn();
  store.watch("a", gone);
  await store.create(task("a", { ttl: 1000 }));
  await store.create(task("b", { ttl: 25_000 }));
  vi.advanceTimersByTime(10_000);
  expect(gone.mock.calls).toEqual([[undefined]]);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(20_000);
  expect(vi.getTimerCount()).toBe(0);
});

test("a handler is stopped when the time of its task is over", async () => {
  vi.useFakeTimers();
  const tasks = new Tasks({}, () => {});
  const run = await tasks.make({
    caller: CALLER,
    owner: "me",
    options: { ttl: 5000 },
    hearing: HEARS_NOTHING,
  });
  const asked = run.dialogue.ask({
    method: "elicitation/create",
    params: { message: "?", requestedSchema: {} },
  });
  const refused = expect(asked).rejects.toThrow("ttl (5000 ms)");
  vi.advanceTimersByTime(5000);
  await refused;
  expect(run.signal.aborted).toBe(true);
  await expect(run.dialogue.ask({ method: "roots/list" })).rejects.toThrow("ttl");
  await expect(tasks.get(run.record.id, "me")).rejects.toThrow("Task not found");
});

test("a session that is over takes its tasks along, a server that stops all", async () => {
  const tasks = new Tasks({}, () => {});
  const make = (owner: string) => tasks.make({ caller: CALLER, owner, options: {}, hearing: HEARS_NOTHING });
  const [mine, theirs] = [await make("me"), await make("you")];
  await tasks.end("me");
  expect(mine.signal.reason).toMatchObject({ message: "The session is over" });
  expect(theirs.signal.aborted).toBe(false);
  await tasks.end();
  expect(theirs.signal.reason).toMatchObject({ message: "The server stopped" });
  expect(await tasks.get(mine.record.id, "me")).toMatchObject({
    status: "failed",
    error: { code: -32603, message: "The session is over" },
  });
});

test("what a handler does after its task is over is not told", async () => {
  const notify = vi.fn();
  const tasks = new Tasks({}, () => {});
  const run = await tasks.make({
    caller: CALLER,
    owner: "me",
    options: {},
    hearing: { ...HEARS_NOTHING, notify },
  });
  run.notify("notifications/progress", { progress: 1 });
  run.follow(async () => ({ content: [] }));
  await vi.waitFor(async () =>
    expect(await tasks.get(run.record.id, "me")).toMatchObject({ status: "completed" }),
  );
  run.notify("notifications/progress", { progress: 2 });
  run.status("too late");
  expect(notify).toHaveBeenCalledTimes(1);
  await expect(run.dialogue.ask({ method: "roots/list" })).rejects.toThrow("The task is over");
  expect(await tasks.get(run.record.id, "me")).not.toMatchObject({ statusMessage: "too late" });
});

test("tasks keep no process alive", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const tasks = new Tasks({}, () => {});
  await tasks.make({ caller: CALLER, owner: "me", options: {}, hearing: HEARS_NOTHING });
  expect(timers()).toBe(before);
  await tasks.end();
});

test("what a store fails with is told to the operator, and the handler goes on", async () => {
  const reported: unknown[] = [];
  const store = memoryTasks();
  const tasks = new Tasks(
    { store: { ...store, update: () => Promise.reject(new Error("store is away")) } },
    (error, where) => reported.push([(error as Error).message, where]),
  );
  const run = await tasks.make({ caller: CALLER, owner: "me", options: {}, hearing: HEARS_NOTHING });
  run.status("working on it");
  await vi.waitFor(() => expect(reported).toEqual([["store is away", "tasks"]]));
  await expect(
    run.dialogue.ask({ method: "elicitation/create", params: { message: "?", requestedSchema: {} } }),
  ).rejects.toThrow("store is away");
});

test("durations that are none are refused when the server is made", () => {
  for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
    expect(() => new McpServer({ name: "x", version: "1" }, { tasks: { ttl: value } })).toThrow("tasks.ttl");
    expect(() => taskOptions({ pollInterval: value })).toThrow("task.pollInterval");
    const server = new McpServer({ name: "x", version: "1" });
    expect(() => server.tool("t", { task: { ttl: value } }, () => "")).toThrow('Tool "t": task.ttl');
  }
});
