/** Calls that go on as tasks of 2025-11-25, with servers whose every answer is written here, and with those that lie. */

import type { JsonObject } from "@patchbay/core";
import { describe, expect, test, vi } from "vitest";
import { type ConnectOptions, connect, InvalidResponseError, TaskCancelledError } from "../src/index.ts";
import { LEGACY, type Script, scripted } from "./scripted.ts";
import { ASKED, DONE, paramsOf, promised, sent, TIMES } from "./tasks.ts";

/** What a server of 2025-11-25 with tasks says of itself, and of its tools. */
const OLD: Script = {
  ...LEGACY,
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
    serverInfo: { name: "scripted", version: "1" },
  }),
  "tools/list": () => ({
    tools: [
      { name: "plain", inputSchema: { type: "object" } },
      { name: "may", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } },
      { name: "must", inputSchema: { type: "object" }, execution: { taskSupport: "required" } },
    ],
  }),
  "tools/call": ({ params }) => (params.task === undefined ? DONE : { task: LEGACY_TASK }),
  "tasks/get": () => LEGACY_TASK,
  "tasks/cancel": () => ({ ...LEGACY_TASK, status: "cancelled" }),
};
const LEGACY_TASK = { taskId: "t1", status: "working", ...TIMES, ttl: 60_000, pollInterval: 1 };

async function legacy(more: Script = {}, options: ConnectOptions = {}) {
  const server = scripted({ ...OLD, ...more });
  return { client: await connect(server, { tasks: true, ...options }), received: server.received };
}

describe("a legacy server", () => {
  test("is asked for a task where a tool wants one, or may be one and that is wished for", async () => {
    const { client, received } = await legacy({ "tasks/result": () => DONE });
    for (const name of ["plain", "may", "must"]) expect(await client.callTool(name)).toEqual(DONE);
    await client.callTool("may", {}, { ttl: 5 });
    expect((await client.startTool("plain")).taskId).toBeUndefined();
    expect((await client.startTool("may", { a: 1 })).taskId).toBe("t1");
    expect(
      sent(received, "tools/call").map((message) => [paramsOf(message).name, paramsOf(message).task]),
    ).toEqual([
      ["plain", undefined],
      ["may", undefined],
      ["must", {}],
      ["may", { ttl: 5 }],
      ["plain", undefined],
      ["may", {}],
    ]);
    expect(sent(received, "tools/list")).toHaveLength(1);
  });

  test("without tasks, or of a revision without them, is called as ever", async () => {
    const capabilities = { tools: {} };
    for (const protocolVersion of ["2025-11-25", "2025-06-18"]) {
      const { client, received } = await legacy({ initialize: () => ({ protocolVersion, capabilities }) });
      expect(await client.callTool("must")).toEqual(DONE);
      expect((await client.startTool("must")).taskId).toBeUndefined();
      expect(sent(received, "tools/list")).toEqual([]);
      expect(paramsOf(received.at(-1))).not.toHaveProperty("task");
    }
    const { client } = await legacy({ initialize: () => ({ protocolVersion: "2025-06-18", capabilities }) });
    await expect(client.task("t1").get()).rejects.toThrow("no tasks");
  });

  test("tells of status and progress until the result is there, and may ask", async () => {
    const onElicit = vi.fn(() => ({ action: "accept" as const, content: {} }));
    let token: unknown;
    const { client, received } = await legacy(
      {
        "tools/call": ({ params }) => {
          token = (params._meta as JsonObject).progressToken;
          return { task: LEGACY_TASK };
        },
        "tasks/result": ({ notify, ask }) => {
          notify("notifications/progress", { progressToken: token as string, progress: 1 });
          notify("notifications/tasks/status", {
            ...LEGACY_TASK,
            taskId: "other",
            statusMessage: "not mine",
          });
          notify("notifications/tasks/status", { ...LEGACY_TASK, statusMessage: "half" });
          notify("notifications/tasks/status", { taskId: "t1", status: "dreaming" });
          notify("notifications/progress", { progressToken: token as string, progress: 2, total: 3 });
          ask("q", "elicitation/create", ASKED.who.params);
          return DONE;
        },
        "tasks/get": () => ({ ...LEGACY_TASK, status: "completed" }),
      },
      { onElicit },
    );
    const told: string[] = [];
    const given = await client.callTool(
      "must",
      {},
      {
        onStatus: ({ status, statusMessage }) => told.push(`${status} ${statusMessage}`),
        onProgress: ({ progress }) => told.push(`progress ${progress}`),
      },
    );
    expect(given).toEqual(DONE);
    expect(told).toEqual([
      "working undefined",
      "progress 1",
      "working half",
      "progress 2",
      "completed undefined",
    ]);
    await vi.waitFor(() => expect(received.find(({ id }) => id === "q")).toHaveProperty("result"));
  });

  test("that fails a task answers as the call would have been; one that cancelled it is told apart", async () => {
    let status = "failed";
    const { client } = await legacy({
      "tasks/result": () => {
        throw { code: -32_000, message: "no disk" };
      },
      "tasks/get": () => ({ ...LEGACY_TASK, status }),
    });
    await expect(client.callTool("must")).rejects.toMatchObject({ code: -32_000, message: "no disk" });
    status = "cancelled";
    await expect(client.callTool("must")).rejects.toBeInstanceOf(TaskCancelledError);
  });

  test("is told that a call was given up by a cancelled task", async () => {
    const waited = promised();
    const { client, received } = await legacy({
      "tasks/result": () => {
        waited.resolve();
        return undefined;
      },
    });
    const stop = new AbortController();
    const called = client.callTool("must", {}, { signal: stop.signal });
    await waited.promise;
    stop.abort(new Error("Enough"));
    await expect(called).rejects.toThrow("Enough");
    await client.listTools({ refresh: true });
    expect(sent(received, "tasks/cancel").map(paramsOf)).toEqual([{ taskId: "t1" }]);
  });

  test("that cannot cancel is not asked to by who gives up", async () => {
    const waited = promised();
    const { client, received } = await legacy({
      initialize: () => ({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
      }),
      "tasks/result": () => {
        waited.resolve();
        return undefined;
      },
    });
    const stop = new AbortController();
    const called = client.callTool("must", {}, { signal: stop.signal });
    await waited.promise;
    stop.abort(new Error("Enough"));
    await expect(called).rejects.toThrow("Enough");
    await client.listTools({ refresh: true });
    expect(sent(received, "tasks/cancel")).toEqual([]);
  });

  test("that will not cancel what is over has done its work", async () => {
    let status = "completed";
    const { client } = await legacy({
      "tasks/cancel": () => {
        throw { code: -32602, message: "It is over" };
      },
      "tasks/get": () => ({ ...LEGACY_TASK, status }),
    });
    await client.task("t1").cancel();
    status = "working";
    await expect(client.task("t1").cancel()).rejects.toMatchObject({ code: -32602 });
  });

  test.each<[string, JsonObject, string]>([
    ["neither a result nor a task", {}, '"content"'],
    ["a task without an id", { task: { status: "working" } }, "no taskId"],
    ["a task that is none", { task: 5 }, '"content"'],
  ])("that answers with %s is refused", async (_what, answer, message) => {
    const { client } = await legacy({ "tools/call": () => answer });
    const error = await client.callTool("must").catch((thrown) => thrown);
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toContain(message);
  });
});
