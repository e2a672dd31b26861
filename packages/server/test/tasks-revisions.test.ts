/** Tasks as each of the two revisions that have them spells them: what the other lacks. */

import { META, TASKS_EXTENSION } from "@patchbay/core";
import { describe, expect, test } from "vitest";
import { memoryTasks } from "../src/index.ts";
import {
  begin,
  begun,
  gate,
  get,
  NAME,
  outcome,
  send,
  TASK_META,
  taskIn,
  tool,
  until,
  using,
  wiresAt,
} from "./tasks.ts";
import { INITIALIZE, type Json, memory, WIRES } from "./wire.ts";

describe.each(wiresAt("2026-07-28"))("%s", (_name, open) => {
  test("the extension is declared, and nothing else", async () => {
    await using(
      open,
      tool(() => "", true, { extensions: { "acme/x": { a: 1 } } }),
      async (wire) => {
        const { capabilities } = (await wire.request("server/discover")).result;
        expect(capabilities.extensions).toEqual({ [TASKS_EXTENSION]: {}, "acme/x": { a: 1 } });
        expect(capabilities).not.toHaveProperty("tasks");
      },
    );
  });

  test("some answers of several leave the rest open", async () => {
    const server = tool(async (ctx) => {
      const both = await Promise.all([
        ctx.elicit("A", NAME, { key: "a" }),
        ctx.elicit("B", NAME, { key: "b" }),
      ]);
      return both.map(({ action }) => action).join();
    });
    await using(open, server, async (wire) => {
      const taskId = await begun(wire, "job");
      await until(wire, taskId, ({ inputRequests = {} }) => Object.keys(inputRequests).length === 2);
      const wrong = await send(wire, "tasks/update", { taskId, inputResponses: { a: "yes" } });
      expect(wrong.error).toMatchObject({ code: -32602, message: expect.stringContaining('"a"') });
      expect((await send(wire, "tasks/update", { taskId })).error.code).toBe(-32602);
      await send(wire, "tasks/update", { taskId, inputResponses: { a: { action: "decline" } } });
      const rest = await get(wire, taskId);
      expect([rest.status, Object.keys(rest.inputRequests)]).toEqual(["input_required", ["b"]]);
      await send(wire, "tasks/update", {
        taskId,
        inputResponses: { a: { action: "cancel" }, b: { action: "cancel" } },
      });
      expect((await outcome(wire, taskId)).result.content[0].text).toBe("decline,cancel");
    });
  });

  test("a question that the client cannot be asked is an error of the task", async () => {
    const server = tool((ctx) => ctx.elicit("Who?", NAME));
    await using(open, server, async (wire) => {
      const _meta = { [META.clientCapabilities]: { extensions: { [TASKS_EXTENSION]: {} } } };
      const { result } = await wire.request("tools/call", { name: "job", _meta });
      expect((await outcome(wire, result.taskId)).error).toMatchObject({ code: -32021 });
    });
  });

  test("a subscription tells of a task: as it is, and each change; never of progress or logs", async () => {
    const first = gate();
    const server = tool(async (ctx) => {
      await first.opened;
      ctx.progress(1, 2, "halfway");
      ctx.log("error", "not told");
      await ctx.elicit("Who?", NAME, { key: "who" });
      return "done";
    });
    await using(open, server, async (wire) => {
      const taskId = await begun(wire, "job", {}, { _meta: { ...TASK_META, progressToken: "p" } });
      const unknown = "11111111-1111-4111-8111-111111111111";
      const notifications = { taskIds: [taskId, unknown, taskId], toolsListChanged: true };
      const refused = await wire.request("subscriptions/listen", { notifications });
      expect(refused.error).toMatchObject({ code: -32021 });
      const bad = await wire.request("subscriptions/listen", {
        notifications: { taskIds: [5] },
        _meta: TASK_META,
      });
      expect(bad.error.code).toBe(-32602);
      wire.request("subscriptions/listen", { notifications, _meta: TASK_META }, "s").catch(() => {});
      const acknowledged = await wire.notification(({ method }) => method.endsWith("/acknowledged"));
      expect(acknowledged.params.notifications).toEqual({ taskIds: [taskId], toolsListChanged: true });
      const told = (accept: (task: Json) => boolean) =>
        wire.notification(({ method, params }) => method === "notifications/tasks" && accept(params));
      expect((await told(({ status }) => status === "working")).params).toMatchObject({
        taskId,
        _meta: { [META.subscriptionId]: "s" },
      });
      first.open();
      const asks = await told(({ status }) => status === "input_required");
      expect(asks.params.inputRequests.who.method).toBe("elicitation/create");
      await send(wire, "tasks/update", { taskId, inputResponses: { who: { action: "decline" } } });
      const done = await told(({ status }) => status === "completed");
      const { resultType: _, _meta: __, ...same } = await get(wire, taskId);
      expect(done.params).toEqual({ ...same, _meta: { [META.subscriptionId]: "s" } });
      const methods = new Set(wire.notifications.map(({ method }) => method));
      expect([...methods].sort()).toEqual([
        "notifications/subscriptions/acknowledged",
        "notifications/tasks",
      ]);
      await wire.cancel("s");
    });
  });
});

describe.each(wiresAt("2025-11-25"))("%s", (_name, open) => {
  test("tasks are a capability", async () => {
    const server = tool(() => "", true, { extensions: { "acme/x": {} } });
    await using(open, server, async (wire) => {
      const { result } = wire.initialized as Json;
      expect(result.capabilities.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
      expect(result.capabilities.extensions).toEqual({ "acme/x": {} });
    });
  });

  test("a tool that does not run as a task refuses to, and a task that is none is refused", async () => {
    await using(
      open,
      tool(() => "done"),
      async (wire) => {
        expect((await begin(wire, "plain")).error).toMatchObject({
          code: -32601,
          message: expect.stringContaining("plain"),
        });
        for (const task of [5, null, "soon", { ttl: "long" }, { ttl: -1 }, { ttl: 0.5 }]) {
          const { error } = await wire.request("tools/call", { name: "job", arguments: {}, task });
          expect(error.code).toBe(-32602);
        }
      },
    );
  });

  test("the time that a client asks for, up to the most there is", async () => {
    await using(
      open,
      tool(() => "done", true, { tasks: { maxTtl: 10_000 } }),
      async (wire) => {
        for (const [ttl, given] of [
          [5000, 5000],
          [99_999, 10_000],
          [null, 10_000],
          [undefined, 10_000],
        ]) {
          expect(taskIn(await begin(wire, "job", {}, { task: { ttl } })).ttlMs).toBe(given);
        }
      },
    );
  });

  test("a session sees its own tasks and no others", async () => {
    const server = tool(() => "done");
    await using(open, server, async (wire) => {
      const other = await (WIRES.find(([name]) => name === "memory, 2025-11-25") as (typeof WIRES)[0])[1](
        server,
      );
      const mine = await begun(wire, "job");
      const theirs = await begun(other, "job");
      for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
        expect((await wire.request(method, { taskId: theirs })).error).toMatchObject({
          code: -32602,
          message: expect.stringContaining("not found"),
        });
      }
      const listed = (await wire.request("tasks/list")).result.tasks.map(({ taskId }: Json) => taskId);
      expect(listed).toEqual([mine]);
      await other.close();
    });
  });

  test("a list has pages, and a session has so many tasks", async () => {
    const store = memoryTasks({ maxTasksPerOwner: 102 });
    await using(
      open,
      tool(() => "done", true, { tasks: { store } }),
      async (wire) => {
        const ids: string[] = [];
        while (ids.length < 102) ids.push(await begun(wire, "job"));
        const first = (await wire.request("tasks/list")).result;
        const { tasks, ...end } = (await wire.request("tasks/list", { cursor: first.nextCursor })).result;
        expect([...first.tasks, ...tasks].map(({ taskId }: Json) => taskId)).toEqual(ids);
        expect([first.tasks.length, tasks.length, end]).toEqual([100, 2, {}]);
        const { error } = await begin(wire, "job");
        expect(error).toMatchObject({ code: -32600, data: { limit: "maxTasksPerOwner", value: 102 } });
        for (const cursor of ["after:gone", "nonsense", 7, null]) {
          expect((await wire.request("tasks/list", { cursor })).error.code).toBe(-32602);
        }
      },
    );
  });

  test("its session is told how a task stands, of its progress, and by whom it was logged", async () => {
    const { opened, open: begins } = gate();
    const server = tool(async (ctx) => {
      await opened;
      ctx.progress(1, 2);
      ctx.log("error", "broken");
      return "done";
    });
    await using(open, server, async (wire) => {
      await wire.listen();
      const taskId = await begun(wire, "job", {}, { _meta: { progressToken: "p" } });
      begins();
      const related = { [META.relatedTask]: { taskId } };
      const done = await wire.notification(({ method }) => method === "notifications/tasks/status");
      expect(done.params).toMatchObject({ taskId, status: "completed", ttl: 3_600_000 });
      expect(done.params).not.toHaveProperty("_meta");
      const others = wire.notifications.filter(({ method }) => method !== "notifications/tasks/status");
      expect(others.map(({ method, params }) => [method, params._meta])).toEqual([
        ["notifications/progress", related],
        ["notifications/message", related],
      ]);
    });
  });

  test("an answer that is none fails the task, as it would have failed the call", async () => {
    await using(
      open,
      tool(async (ctx) => (await ctx.elicit("Who?", NAME)).action),
      async (wire) => {
        wire.onAsked = () => ({ action: "perhaps" });
        const { error } = await outcome(wire, await begun(wire, "job"));
        expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("not valid") });
      },
    );
  });
});

test("a client that stopped waiting is asked again when it comes back", async () => {
  const client = memory(tool(async (ctx) => (await ctx.elicit("Who?", NAME)).action));
  const received: Json[] = [];
  let look = () => {};
  client.listen(
    (text) => {
      received.push(JSON.parse(text));
      look();
    },
    () => {},
  );
  const say = (message: Json) => client.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const next = (accept: (message: Json) => boolean) =>
    new Promise<Json>((resolve) => {
      look = () => {
        const found = received.find(accept);
        if (found !== undefined) resolve(found);
      };
      look();
    });
  say({ id: 1, method: "initialize", params: INITIALIZE });
  say({ id: 2, method: "tools/call", params: { name: "job", task: {} } });
  const { taskId } = (await next(({ id, result }) => id === 2 && result)).result.task;
  say({ id: 3, method: "tasks/result", params: { taskId } });
  const first = await next(({ method }) => method === "elicitation/create");
  say({ method: "notifications/cancelled", params: { requestId: 3 } });
  say({ id: 4, method: "tasks/result", params: { taskId } });
  const second = await next(({ method, id }) => method === "elicitation/create" && id !== first.id);
  say({ id: second.id, result: { action: "decline" } });
  const answer = await next(({ id, method }) => id === 4 && method === undefined);
  expect(answer.result.content[0].text).toBe("decline");
  expect(received.some(({ id, method }) => id === 3 && method === undefined)).toBe(false);
  await client.close();
});
