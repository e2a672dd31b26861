/** A tool that runs as a task is written once, and both spellings of tasks are served by it. */

import { ErrorCode, META, ProtocolError, TASKS_EXTENSION } from "@patchbay/core";
import { describe, expect, test } from "vitest";
import { McpServer } from "../src/index.ts";
import {
  begin,
  begun,
  gate,
  get,
  NAME,
  outcome,
  over,
  send,
  TASK_WIRES,
  taskIn,
  tool,
  until,
  using,
} from "./tasks.ts";
import { type Json, WIRES } from "./wire.ts";

describe.each(TASK_WIRES)("%s", (_name, open) => {
  test("a call is answered by a task, and its result is fetched", async () => {
    const { opened, open: finish } = gate();
    await using(
      open,
      tool(() => opened.then(() => "done")),
      async (wire) => {
        const created = await begin(wire, "job");
        const task = taskIn(created);
        expect(task).toMatchObject({ status: "working", ttlMs: 3_600_000, pollIntervalMs: 1000 });
        expect(task.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(task.taskId).toMatch(/^[0-9a-f-]{36}$/);
        if (wire.era === "modern") {
          expect(created.result.resultType).toBe("task");
          expect(Object.keys(created.result).sort()).toEqual(
            [
              "_meta",
              "createdAt",
              "lastUpdatedAt",
              "pollIntervalMs",
              "resultType",
              "status",
              "taskId",
              "ttlMs",
            ].sort(),
          );
        } else {
          expect(Object.keys(created.result)).toEqual(["task"]);
          expect(Object.keys(created.result.task).sort()).toEqual(
            ["createdAt", "lastUpdatedAt", "pollInterval", "status", "taskId", "ttl"].sort(),
          );
        }
        expect(await get(wire, task.taskId)).toMatchObject({ taskId: task.taskId, status: "working" });
        finish();
        const { result } = await outcome(wire, task.taskId);
        expect(result.content).toEqual([{ type: "text", text: "done" }]);
        expect(result._meta).toEqual(
          wire.era === "legacy" ? { [META.relatedTask]: { taskId: task.taskId } } : undefined,
        );
        const last = await send(wire, "tasks/get", { taskId: task.taskId });
        expect(taskIn(last).status).toBe("completed");
        if (wire.era === "modern") expect(last.result.resultType).toBe("complete");
      },
    );
  });

  test("a tool that says it failed has failed in 2025-11-25, and is completed since", async () => {
    const server = tool(() => {
      throw new Error("no such branch");
    });
    await using(open, server, async (wire) => {
      const taskId = await begun(wire, "job");
      const { result } = await outcome(wire, taskId);
      expect(result).toMatchObject({ isError: true, content: [{ type: "text", text: "no such branch" }] });
      const task = await get(wire, taskId);
      expect(task.status).toBe(wire.era === "modern" ? "completed" : "failed");
      if (wire.era === "legacy") expect(task.statusMessage).toBe("no such branch");
    });
  });

  test("an error of the protocol fails the task", async () => {
    const server = tool(() => {
      throw new ProtocolError(ErrorCode.InternalError, "disk full", { disk: 3 });
    });
    await using(open, server, async (wire) => {
      const taskId = await begun(wire, "job");
      const { error, result } = await outcome(wire, taskId);
      expect(error).toEqual({ code: -32603, message: "disk full", data: { disk: 3 } });
      expect(result).toBeUndefined();
      expect(await get(wire, taskId)).toMatchObject({ status: "failed", statusMessage: "disk full" });
    });
  });

  test("what is asked waits for its answer; the handler runs once", async () => {
    let runs = 0;
    const server = tool(async (ctx) => {
      runs++;
      const first = await ctx.elicit("Who?", NAME, { key: "who" });
      const steps = [await ctx.step("once", () => runs), await ctx.step("once", () => "again")];
      const second = await ctx.elicit("And who?", NAME, { key: "who" });
      return JSON.stringify([first, second, steps]);
    });
    await using(open, server, async (wire) => {
      const asked: Json[] = [];
      const answer = (request: Json) => {
        asked.push(request);
        return { action: "accept", content: { name: `n${asked.length}` } };
      };
      wire.onAsked = answer;
      const taskId = await begun(wire, "job");
      if (wire.era === "modern") {
        for (const key of ["who", "who-2"]) {
          const { inputRequests } = await until(wire, taskId, (task) => key in (task.inputRequests ?? {}));
          expect(Object.keys(inputRequests)).toEqual([key]);
          const inputResponses = { [key]: answer(inputRequests[key]), unknown: { ignored: true } };
          const { result } = await send(wire, "tasks/update", { taskId, inputResponses });
          expect(result).toEqual({ resultType: "complete", _meta: expect.anything() });
        }
      } else {
        await until(wire, taskId, ({ status }) => status === "input_required");
      }
      const { result } = await outcome(wire, taskId);
      expect(JSON.parse(result.content[0].text)).toEqual([
        { action: "accept", content: { name: "n1" } },
        { action: "accept", content: { name: "n2" } },
        [1, 1],
      ]);
      expect(runs).toBe(1);
      expect(asked.map(({ method, params }) => [method, params.message])).toEqual([
        ["elicitation/create", "Who?"],
        ["elicitation/create", "And who?"],
      ]);
      if (wire.era === "legacy") expect(asked[0]?.params._meta).toEqual({ [META.relatedTask]: { taskId } });
    });
  });

  test("cancelled, its handler is stopped, and what that gives changes nothing", async () => {
    const started = gate();
    const stopped = gate();
    const server = tool(
      (ctx) =>
        new Promise((resolve) => {
          started.open();
          ctx.signal.addEventListener("abort", () => {
            resolve("too late");
            stopped.open();
          });
        }),
    );
    await using(open, server, async (wire) => {
      const taskId = await begun(wire, "job");
      await started.opened;
      const { result } = await send(wire, "tasks/cancel", { taskId });
      if (wire.era === "legacy") expect(result).toMatchObject({ taskId, status: "cancelled" });
      else expect(result).toEqual({ resultType: "complete", _meta: expect.anything() });
      await stopped.opened;
      const task = await get(wire, taskId);
      expect(task.status).toBe("cancelled");
      expect(await get(wire, taskId)).toEqual(task);
      const again = await send(wire, "tasks/cancel", { taskId });
      if (wire.era === "modern") expect(again.result.resultType).toBe("complete");
      else {
        expect(again.error).toMatchObject({ code: -32602, message: expect.stringContaining("cancelled") });
        expect((await outcome(wire, taskId)).error.message).toContain("cancelled");
      }
    });
  });

  test("a task that waits for an answer can be cancelled; its question is no more", async () => {
    const caught = gate();
    let reason: unknown;
    const server = tool(async (ctx) => {
      try {
        await ctx.elicit("Who?", NAME);
      } catch (thrown) {
        reason = thrown;
        caught.open();
        throw thrown;
      }
    });
    await using(open, server, async (wire) => {
      const taskId = await begun(wire, "job");
      await until(wire, taskId, ({ status }) => status === "input_required");
      await send(wire, "tasks/cancel", { taskId });
      await caught.opened;
      expect((reason as Error).name).toBe("CancelledError");
      expect(await get(wire, taskId)).not.toHaveProperty("inputRequests");
    });
  });

  test("a task that is over stays as it is", async () => {
    await using(
      open,
      tool(() => "done"),
      async (wire) => {
        const taskId = await begun(wire, "job");
        const done = await over(wire, taskId);
        expect((await send(wire, "tasks/cancel", { taskId })).error?.code).toBe(
          wire.era === "legacy" ? -32602 : undefined,
        );
        if (wire.era === "modern") await send(wire, "tasks/update", { taskId, inputResponses: { "1": {} } });
        expect(await get(wire, taskId)).toEqual(done);
      },
    );
  });

  test("what goes on is said by its status", async () => {
    const { opened, open: finish } = gate();
    const server = tool(async (ctx) => {
      ctx.status("lost");
      ctx.status("compiling");
      await opened;
      ctx.progress(1, 2, "linking");
      return "done";
    });
    await using(open, server, async (wire) => {
      const taskId = await begun(wire, "job");
      const said = ({ statusMessage }: Json) => statusMessage === "compiling";
      expect((await until(wire, taskId, said)).status).toBe("working");
      finish();
      expect(await over(wire, taskId)).not.toHaveProperty("statusMessage");
    });
  });

  test("tasks that are not there, and ids that are none", async () => {
    const methods = [
      "tasks/get",
      "tasks/cancel",
      _name.endsWith("2026-07-28") ? "tasks/update" : "tasks/result",
    ];
    await using(
      open,
      tool(() => "done"),
      async (wire) => {
        for (const method of methods) {
          for (const taskId of ["11111111-1111-4111-8111-111111111111", "", 5, undefined]) {
            const { error } = await send(wire, method, { taskId, inputResponses: {} });
            // HTTP wants a header that says the same before it looks at the id.
            expect([-32602, -32020]).toContain(error.code);
          }
        }
      },
    );
  });

  test("wrong arguments make no task", async () => {
    let runs = 0;
    await using(
      open,
      tool(() => ++runs),
      async (wire) => {
        const { result } = await begin(wire, "job", { size: "big" });
        expect(result.isError).toBe(true);
        expect(runs).toBe(0);
      },
    );
  });

  test("limits: how many, how long, and how often it may ask", async () => {
    const server = tool(
      async (ctx) => {
        await ctx.elicit("1", NAME);
        await ctx.elicit("2", NAME);
      },
      { ttl: 5000, pollInterval: 20 },
      { tasks: { maxQuestions: 1, maxTtl: 4000 } },
    );
    await using(open, server, async (wire) => {
      wire.onAsked = () => ({ action: "decline" });
      const created = taskIn(await begin(wire, "job"));
      expect(created).toMatchObject({ ttlMs: 4000, pollIntervalMs: 20 });
      if (wire.era === "modern") {
        await until(wire, created.taskId, ({ status }) => status === "input_required");
        await send(wire, "tasks/update", {
          taskId: created.taskId,
          inputResponses: { "1": { action: "decline" } },
        });
      }
      expect((await outcome(wire, created.taskId)).error).toMatchObject({
        data: { limit: "maxQuestions", value: 1 },
      });
    });
  });

  test("a tool may begin in the call and go on as a task", async () => {
    let runs = 0;
    const server = tool(
      async (ctx) => {
        runs++;
        const before = await ctx.elicit("Who?", NAME, { key: "who" });
        await ctx.defer();
        await ctx.defer();
        const after = await ctx.elicit("Sure?", NAME, { key: "who" });
        return JSON.stringify([before.action, after.action]);
      },
      { required: true, deferred: true },
    );
    await using(open, server, async (wire) => {
      wire.onAsked = ({ params }) =>
        params.message === "Who?" ? { action: "decline" } : { action: "cancel" };
      let response = await begin(wire, "job");
      if (wire.era === "modern") {
        expect(response.result.resultType).toBe("input_required");
        const { requestState } = response.result;
        response = await begin(
          wire,
          "job",
          {},
          { requestState, inputResponses: { who: { action: "decline" } } },
        );
        expect(response.result).not.toHaveProperty("requestState");
        const { taskId } = taskIn(response);
        await until(wire, taskId, ({ status }) => status === "input_required");
        await send(wire, "tasks/update", { taskId, inputResponses: { who: { action: "cancel" } } });
      }
      const { result } = await outcome(wire, taskIn(response).taskId);
      expect(result.content[0].text).toBe('["decline","cancel"]');
      expect(runs).toBe(wire.era === "modern" ? 2 : 1);
    });
  });
});

describe.each(WIRES)("%s", (_name, open) => {
  test("a client without tasks has the same tool as an ordinary call", async () => {
    await using(
      open,
      tool(async (ctx) => {
        ctx.status("said to nobody");
        await ctx.defer();
        return "done";
      }),
      async (wire) => {
        const { result } = await wire.request("tools/call", { name: "job" });
        expect(result.content).toEqual([{ type: "text", text: "done" }]);
        if (wire.revision !== "2025-11-25") {
          const legacy = await wire.request("tools/call", { name: "plain", task: { ttl: 5 } });
          expect(legacy.result.content).toEqual([{ type: "text", text: "plain" }]);
        }
      },
    );
  });

  test("a tool that runs as a task only says so to a client without", async () => {
    await using(
      open,
      tool(() => "never", "required"),
      async (wire) => {
        const { error } = await wire.request("tools/call", { name: "job" });
        if (wire.era === "modern") {
          expect(error).toMatchObject({
            code: -32021,
            data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
          });
        } else {
          expect(error.code).toBe(wire.revision === "2025-11-25" ? -32601 : -32600);
          expect(error.message).toContain("as a task only");
        }
      },
    );
  });

  test("methods of tasks are there for those alone who have them", async () => {
    const methods = ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"];
    const codes = async (server: McpServer) => {
      const found: Json = {};
      await using(open, server, async (wire) => {
        for (const method of methods) {
          found[method] = (await wire.request(method, { taskId: "x", inputResponses: {} })).error?.code;
        }
      });
      return Object.values(found);
    };
    const none = new McpServer({ name: "none", version: "1" }).tool("plain", {}, () => "plain");
    expect(await codes(none)).toEqual([-32601, -32601, -32601, -32601, -32601]);
    if (_name.endsWith("2026-07-28")) {
      expect(await codes(tool(() => ""))).toEqual([-32021, -32601, -32601, -32021, -32021]);
    } else if (_name.endsWith("2025-11-25")) {
      expect(await codes(tool(() => ""))).toEqual([-32602, -32602, undefined, -32602, -32601]);
    } else {
      expect(await codes(tool(() => ""))).toEqual([-32601, -32601, -32601, -32601, -32601]);
    }
  });

  test("a list says which tools run as tasks where the revision can", async () => {
    await using(
      open,
      tool(() => "", "required").tool("may", { task: true }, () => "") as McpServer,
      async (wire) => {
        const { result } = await wire.request("tools/list");
        expect(result.tools.map((listed: Json) => listed.execution?.taskSupport)).toEqual(
          wire.revision === "2025-11-25"
            ? ["required", undefined, "optional"]
            : [undefined, undefined, undefined],
        );
        expect(JSON.stringify(result.tools)).not.toContain('"task"');
      },
    );
  });
});
