/** Tasks from end to end: a tool is written once, and a call of it looks the same in both eras and over each transport. */

import { type Client, type ConnectOptions, connect, TaskCancelledError } from "@patchbay/client";
import { type Context, McpServer } from "@patchbay/server";
import { serveHttp } from "@patchbay/server/http";
import { describe, expect, test } from "vitest";
import { z } from "zod";

type Connect = (server: McpServer, options?: ConnectOptions) => Promise<[Client, () => Promise<unknown>]>;

const inMemory =
  (era: "modern" | "legacy"): Connect =>
  async (server, options) => {
    const client = await connect(server, { era, tasks: true, ...options });
    return [client, () => client.close()];
  };
const overHttp =
  (era: "modern" | "legacy"): Connect =>
  async (server, options) => {
    const running = await serveHttp(server, { port: 0 });
    const client = await connect(running.url, { era, tasks: true, ...options });
    return [client, () => client.close().then(() => running.close())];
  };

/** A server whose tool runs as a task, and does what the test gives it. */
function serving(run: (ctx: Context) => unknown, options: object = {}): McpServer {
  const server = new McpServer(
    { name: "tasks", version: "1" },
    { onError: () => {}, tasks: { pollInterval: 1 } },
  );
  server.tool("job", { task: "required", ...options }, async (_args, ctx) => (await run(ctx)) as string);
  return server;
}

function gate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe.each([
  ["modern in memory", inMemory("modern")],
  ["legacy in memory", inMemory("legacy")],
  ["modern over HTTP", overHttp("modern")],
  ["legacy over HTTP", overHttp("legacy")],
])("%s", (name, open) => {
  test("a call is followed to its result, and what goes on is told", async () => {
    const heard = gate();
    const server = serving(async (ctx) => {
      ctx.status("half");
      await heard.opened;
      return "done";
    });
    const [client, close] = await open(server);
    const told: string[] = [];
    const { content } = await client.callTool(
      "job",
      {},
      {
        onStatus: ({ status, statusMessage = "" }) => {
          told.push(`${status} ${statusMessage}`);
          if (statusMessage === "half") heard.open();
        },
      },
    );
    expect(content).toEqual([{ type: "text", text: "done" }]);
    expect(told).toEqual(["working ", "working half", "completed "]);
    await close();
  });

  test("its questions are answered by the same callbacks, several in a row", async () => {
    const server = serving(async (ctx) => {
      const answers = [];
      for (const ask of ["one", "two"]) answers.push(await ctx.elicit(ask, z.object({ a: z.string() })));
      return JSON.stringify(answers);
    });
    const [client, close] = await open(server, {
      onElicit: ({ message }) => ({ action: "accept", content: { a: message } }),
    });
    const { content } = await client.callTool("job");
    expect(JSON.parse((content[0] as { text: string }).text)).toEqual([
      { action: "accept", content: { a: "one" } },
      { action: "accept", content: { a: "two" } },
    ]);
    await close();
  });

  test("giving up a call stops its handler", async () => {
    const [started, stopped] = [gate(), gate()];
    const server = serving(async (ctx) => {
      ctx.signal.addEventListener("abort", stopped.open);
      started.open();
      await stopped.opened;
      return "";
    });
    const [client, close] = await open(server);
    const stop = new AbortController();
    const known = gate();
    const called = client
      .callTool("job", {}, { signal: stop.signal, onStatus: known.open })
      .catch((error: Error) => error.message);
    await Promise.all([started.opened, known.opened]);
    stop.abort(new Error("Enough"));
    expect(await called).toBe("Enough");
    await stopped.opened;
    await close();
  });

  test("a task is taken up again, looked at, and cancelled while somebody waits for it", async () => {
    const started = gate();
    const server = serving(async (ctx) => {
      started.open();
      await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()));
      return "";
    });
    const [client, close] = await open(server);
    const { taskId = "" } = await client.startTool("job");
    await started.opened;
    const again = client.task(taskId);
    expect(await again.get()).toMatchObject({ taskId, status: "working" });
    const waiting = again.result().catch((error) => error);
    await again.cancel();
    expect(await waiting).toBeInstanceOf(TaskCancelledError);
    expect(await again.get()).toMatchObject({ status: "cancelled" });
    // What is over stays as it is.
    await again.cancel();
    await expect(client.task("nobody's").result()).rejects.toMatchObject({
      name: "ProtocolError",
      code: -32602,
    });
    await close();
  });

  test("a tool that says it failed gives a result, and its output is checked", async () => {
    const failing = serving(() => {
      throw new Error("no such branch");
    });
    const [client, close] = await open(failing);
    expect(await client.callTool("job")).toMatchObject({ isError: true });
    await close();
    const typed = serving(() => ({ n: 1 }), { output: z.object({ n: z.number() }) });
    const [other, end] = await open(typed);
    await other.listTools();
    const task = await other.startTool("job");
    expect((await task.result()).structuredContent).toEqual({ n: 1 });
    await end();
  });

  test("progress is told where tasks have it", async () => {
    // The extension has none (SEP-2663 § Task Status Notifications).
    const hasProgress = name.startsWith("legacy");
    const heard = gate();
    if (!hasProgress) heard.open();
    const server = serving(async (ctx) => {
      ctx.progress(1, 2);
      await heard.opened;
      return "done";
    });
    const [client, close] = await open(server);
    const told: number[] = [];
    const onProgress = ({ progress }: { progress: number }) => {
      told.push(progress);
      heard.open();
    };
    await client.callTool("job", {}, { onProgress });
    expect(told).toEqual(hasProgress ? [1] : []);
    await close();
  });
});

test("a task outlives the connection that it was made on", async () => {
  const finish = gate();
  const running = await serveHttp(
    serving(() => finish.opened.then(() => "done")),
    { port: 0 },
  );
  const first = await connect(running.url, { tasks: true });
  const { taskId = "" } = await first.startTool("job");
  await first.close();
  const second = await connect(running.url, { tasks: true });
  const waiting = second.task(taskId).result();
  finish.open();
  expect((await waiting).content).toEqual([{ type: "text", text: "done" }]);
  await second.close();
  await running.close();
});
