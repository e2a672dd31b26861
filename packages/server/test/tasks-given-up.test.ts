/** A call that is given up before it was answered leaves no task behind: nobody knows of it, so nobody could cancel it. */

import { describe, expect, test } from "vitest";
import { McpServer, memoryTasks, type TaskRecord, type TaskStore } from "../src/index.ts";
import { gate, TASK_META, TASK_WIRES } from "./tasks.ts";
import type { Wire } from "./wire.ts";

/** A store that tells when a task was asked for and when it is cancelled, and makes it when the test lets it. */
function watchedStore() {
  const store = memoryTasks();
  const [asked, made] = [gate(), gate()];
  let tellCancelled: (task: TaskRecord) => void = () => {};
  const cancelled = new Promise<TaskRecord>((resolve) => {
    tellCancelled = resolve;
  });
  const watched: TaskStore = {
    ...store,
    async create(task) {
      asked.open();
      await made.opened;
      return store.create(task);
    },
    async update(id, change) {
      const task = await store.update(id, change);
      if (task?.status === "cancelled") tellCancelled(task);
      return task;
    },
  };
  return { watched, asked: asked.opened, make: made.open, cancelled };
}

/** Calls as a client that takes tasks, without waiting for what may never come. */
function call(wire: Wire, id: string): void {
  const extra = wire.era === "modern" ? { _meta: TASK_META } : { task: {} };
  wire.request("tools/call", { name: "job", arguments: {}, ...extra }, id).catch(() => {});
}

describe.each(TASK_WIRES)("%s", (_name, open) => {
  test.each([false, true])("before its task was made (deferred: %s)", async (deferred) => {
    const { watched, asked, make, cancelled } = watchedStore();
    const ran: string[] = [];
    const gone = gate();
    const server = new McpServer(
      { name: "tasks", version: "1" },
      { tasks: { store: watched }, onError: () => {} },
    );
    server.tool("job", { task: { deferred } }, async (_args, ctx) => {
      await ctx.defer();
      ran.push("on");
      return "";
    });
    server.use(({ exchange }, next) => {
      exchange.signal.addEventListener("abort", gone.open);
      return next();
    });
    const wire = await open(server);
    call(wire, "given up");
    await asked;
    await wire.cancel("given up");
    await gone.opened;
    make();
    expect((await cancelled).statusMessage).toBe("The call was given up before it was answered");
    expect(ran).toEqual([]);
    await wire.close();
  });

  test("after its task was made, and before its client was told", async () => {
    const { watched, make, cancelled } = watchedStore();
    make();
    const [running, stopped, holding, release] = [gate(), gate(), gate(), gate()];
    const server = new McpServer({ name: "tasks", version: "1" }, { tasks: { store: watched } });
    server.tool("job", { task: true }, async (_args, ctx) => {
      running.open();
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      stopped.open();
      return "";
    });
    server.use(async ({ method }, next) => {
      const reply = await next();
      if (method !== "tools/call") return reply;
      holding.open();
      await release.opened;
      return reply;
    });
    const wire = await open(server);
    call(wire, "given up");
    await Promise.all([holding.opened, running.opened]);
    await wire.cancel("given up");
    await Promise.all([stopped.opened, cancelled]);
    release.open();
    await wire.close();
  });
});
