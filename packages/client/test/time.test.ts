/** How long a request may take, what is told of it meanwhile, and how it is given up. */

import type { JsonObject, Progress } from "@patchbay/core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ConnectionError, connect, TimeoutError } from "../src/index.ts";
import { MODERN, type Script, scripted } from "./scripted.ts";

const TEXT = { content: [{ type: "text", text: "done" }] };

async function modern(script: Script, options: Parameters<typeof connect>[1] = {}) {
  const server = scripted({ ...MODERN, ...script });
  return { client: await connect(server, options), received: server.received };
}

const methods = (received: JsonObject[]) => received.map(({ method }) => method);

describe("time and progress", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const outcome = (work: Promise<unknown>) => work.catch((error: unknown) => error);

  test("a request that is not answered is cancelled, and the error names the limit", async () => {
    const { client, received } = await modern({}, { timeout: 100 });
    const failed = outcome(client.callTool("a"));
    await vi.advanceTimersByTimeAsync(100);
    const error = await failed;
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({
      limit: "timeout",
      value: 100,
      message: expect.stringContaining("timeout (100 ms)"),
    });
    expect(received.at(-1)).toMatchObject({ method: "notifications/cancelled", params: { requestId: 2 } });
  });

  test("each request has its own time, whichever was sent first", async () => {
    const { client } = await modern({});
    const ended: number[] = [];
    const start = performance.now();
    const calls = [300, 100, Number.POSITIVE_INFINITY, 200].map((timeout) =>
      outcome(client.callTool("a", {}, { timeout })).then(() => ended.push(performance.now() - start)),
    );
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(ended).toEqual([100, 200, 300]);
    await client.close();
    await Promise.all(calls);
  });

  test("progress is asked for only when somebody listens, and extends the time up to maxTimeout", async () => {
    let report!: (progress: number) => void;
    const { client, received } = await modern({
      "tools/call": ({ notify, params }) => {
        const progressToken = (params._meta as JsonObject).progressToken;
        report = (progress) =>
          notify("notifications/progress", { progressToken, progress, total: 9, message: 5 });
        return undefined;
      },
    });
    const heard: Progress[] = [];
    const onProgress = (progress: Progress) => heard.push(progress);
    const failed = outcome(client.callTool("a", {}, { onProgress, timeout: 100, maxTimeout: 250 }));
    await vi.advanceTimersByTimeAsync(90);
    report(1);
    await vi.advanceTimersByTimeAsync(90);
    report(2);
    await vi.advanceTimersByTimeAsync(69);
    expect(heard).toEqual([
      { progress: 1, total: 9 },
      { progress: 2, total: 9 },
    ]);
    expect(methods(received)).not.toContain("notifications/cancelled");
    await vi.advanceTimersByTimeAsync(1);
    expect(await failed).toMatchObject({ name: "TimeoutError", limit: "maxTimeout", value: 250 });

    const quiet = outcome(client.callTool("a", {}, { timeout: 1 }));
    await vi.advanceTimersByTimeAsync(1);
    expect(await quiet).toBeInstanceOf(TimeoutError);
    expect(received.at(-2)).not.toHaveProperty("params._meta.progressToken");
  });

  test("progress never goes backwards, nor comes after the result", async () => {
    const { client } = await modern({
      "tools/call": ({ id, notify, answer }) => {
        for (const progress of [1, 3, 2, 3, 4])
          notify("notifications/progress", { progressToken: id, progress });
        answer(TEXT);
        notify("notifications/progress", { progressToken: id, progress: 5 });
        return undefined;
      },
    });
    const told: number[] = [];
    await client.callTool("a", {}, { onProgress: ({ progress }) => told.push(progress) });
    await client.ping();
    expect(told).toEqual([1, 3, 4]);
  });

  test("connecting has a limit of its own, and initialize is never cancelled", async () => {
    const server = scripted({});
    const failed = outcome(connect(server, { connectTimeout: 1_000, probeTimeout: 100 }));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await failed).toBeInstanceOf(ConnectionError);
    expect(await failed).toMatchObject({
      reason: "silent",
      message: expect.stringContaining("connectTimeout (1000 ms)"),
    });
    expect(methods(server.received)).toEqual(["server/discover", "initialize"]);
  });
});

test("time that is measured keeps nothing alive once there is an answer", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  let answer = () => {};
  const { client } = await modern({
    "tools/call": (asked) => {
      answer = () => asked.answer({ resultType: "complete", ...TEXT });
      return undefined;
    },
  });
  const before = timers();
  for (let calls = 0; calls < 2; calls++) {
    const calling = client.callTool("a");
    await vi.waitFor(() => expect(timers()).toBeGreaterThan(before));
    answer();
    await calling;
    // One that was there before, of the runner say, may have ended.
    expect(timers()).toBeLessThanOrEqual(before);
  }
});

describe("a signal", () => {
  test("that was aborted before sends nothing", async () => {
    const { client, received } = await modern({});
    await expect(client.callTool("a", {}, { signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow(
      "no",
    );
    expect(received).toHaveLength(1);
  });

  test("cancels its request and no other; the late answer is passed over", async () => {
    const asked: { answer(result: JsonObject): void }[] = [];
    const { client, received } = await modern({
      "tools/call": (request) => {
        asked.push(request);
        return undefined;
      },
    });
    const controller = new AbortController();
    const first = client.callTool("a", {}, { signal: controller.signal });
    const second = client.callTool("b");
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    controller.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
    expect(received.at(-1)).toMatchObject({ method: "notifications/cancelled", params: { requestId: 2 } });
    for (const { answer } of asked) answer(TEXT);
    expect(await second).toMatchObject(TEXT);
  });
});

test("await using closes", async () => {
  const { client } = await modern({});
  await client[Symbol.asyncDispose]();
  expect(await client.closed).toBeUndefined();
  await expect(client.ping()).rejects.toThrow("is closed");
});
