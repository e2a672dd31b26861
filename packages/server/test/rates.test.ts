/** How often a server may be asked: for each who asks, in every revision, with an error that says when to come again. */

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { McpServer } from "../src/index.ts";
import { RateLimit } from "../src/rates.ts";
import { serveHttp } from "../src/transports/http.ts";
import { send, TASK_WIRES } from "./tasks.ts";
import { INITIALIZE, type Json, MODERN_META, memory, WIRES } from "./wire.ts";

const info = { name: "busy", version: "1" };
/** So seldom that nothing comes back while a test runs. */
const SELDOM = { perSecond: 0.001, burst: 2 };

function busy() {
  return new McpServer(info, { rates: { calls: SELDOM, completions: SELDOM } })
    .tool("work", {}, () => "done")
    .prompt("p", { arguments: [{ name: "a" }], complete: { a: () => ["x"] } }, () => "p");
}

describe.each(WIRES)("%s", (_name, open) => {
  test("calls beyond their rate are refused by name, others are not", async () => {
    const wire = await open(busy());
    const call = () => wire.request("tools/call", { name: "work" });
    expect((await call()).result.content[0].text).toBe("done");
    expect((await call()).result.content[0].text).toBe("done");
    const { error } = await call();
    expect(error).toMatchObject({ code: -32600, data: { limit: "rates.calls", value: 0.001 } });
    expect(error.message).toMatch(/more often than rates\.calls allows/);
    expect(error.data.retryAfterMs).toBeGreaterThan(0);
    expect((await wire.request("tools/list")).result.tools).toHaveLength(1);
    await wire.close();
  });

  test("unknown tools count too", async () => {
    const wire = await open(busy());
    const codes: number[] = [];
    for (let n = 0; n < 3; n++) codes.push((await wire.request("tools/call", { name: "none" })).error.code);
    expect(codes).toEqual([-32602, -32602, -32600]);
    await wire.close();
  });

  test("completions have a rate of their own", async () => {
    const wire = await open(busy());
    const complete = () =>
      wire.request("completion/complete", {
        ref: { type: "ref/prompt", name: "p" },
        argument: { name: "a", value: "" },
      });
    await complete();
    await complete();
    expect((await complete()).error.data.limit).toBe("rates.completions");
    expect((await wire.request("tools/call", { name: "work" })).result).toBeDefined();
    await wire.close();
  });

  test("a tool may have one of its own: the model is told to wait", async () => {
    const server = new McpServer(info)
      .tool("dear", { rate: SELDOM, input: z.object({ n: z.number() }) }, ({ n }) => `${n}`)
      .tool("cheap", {}, () => "");
    const wire = await open(server);
    const call = (name: string, args: Json) => wire.request("tools/call", { name, arguments: args });
    await call("dear", { n: 1 });
    await call("dear", { n: 2 });
    const { result } = await call("dear", { n: 3 });
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toMatch(
      /^dear is called more often than its rate allows .* try again in \d+ ms$/,
    );
    expect((await call("cheap", {})).result.isError).toBeUndefined();
    await wire.close();
  });
});

test.each(TASK_WIRES)("%s: looks at tasks have a rate", async (_name, open) => {
  const server = new McpServer(info, { rates: { tasks: SELDOM } }).tool("long", { task: true }, () => "");
  const wire = await open(server);
  for (let n = 0; n < 2; n++)
    expect((await send(wire, "tasks/get", { taskId: "?" })).error.code).toBe(-32602);
  expect((await send(wire, "tasks/get", { taskId: "?" })).error.data.limit).toBe("rates.tasks");
  await wire.close();
});

describe("who is bounded", () => {
  const MEMORY = WIRES.filter(([name]) => name.startsWith("memory"));
  test.each(MEMORY)("%s: each connection by itself", async (_name, open) => {
    const server = busy();
    const [one, other] = [await open(server), await open(server)];
    for (let n = 0; n < 3; n++) await one.request("tools/call", { name: "work" });
    expect((await one.request("tools/call", { name: "work" })).error).toBeDefined();
    expect((await other.request("tools/call", { name: "work" })).result).toBeDefined();
    await Promise.all([one.close(), other.close()]);
  });

  test("over HTTP each session by itself, and modern clients together: 429, with when to come again", async () => {
    const { url, close } = await serveHttp(busy(), { port: 0 });
    const post = (message: Json, headers: Record<string, string>) =>
      fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
      });
    const call = { method: "tools/call", params: { name: "work" } };
    const modern = () =>
      post(
        { ...call, params: { ...call.params, _meta: MODERN_META } },
        { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "work" },
      );
    const session = async () => {
      const opened = await post({ method: "initialize", params: INITIALIZE }, {});
      const id = opened.headers.get("mcp-session-id") as string;
      return () => post(call, { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" });
    };
    for (const ask of [await session(), await session(), modern]) {
      const statuses = [await ask(), await ask()].map(({ status }) => status);
      expect(statuses).toEqual([200, 200]);
      const refused = await ask();
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await refused.json()).toMatchObject({ id: 1, error: { data: { limit: "rates.calls" } } });
    }
    await close();
  });
});

describe("a bucket", () => {
  test("is full at first, and fills again as time goes by", () => {
    let now = 1000;
    const limit = new RateLimit("rate", { perSecond: 10, burst: 3 }, () => now);
    const take = () => limit.take("a");
    expect([take(), take(), take()]).toEqual([0, 0, 0]);
    const wait = take();
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(100);
    now += 100;
    expect([take(), take() > 0]).toEqual([0, true]);
    now += 100_000;
    expect([take(), take(), take(), take() > 0]).toEqual([0, 0, 0, true]);
    expect(limit.take("b")).toBe(0);
    expect(limit.take(undefined)).toBe(0);
  });

  test("keeps to its rate over a long time", () => {
    let now = 0;
    const limit = new RateLimit("rate", { perSecond: 7 }, () => now);
    let taken = 0;
    for (; now < 100_000; now += 3) if (limit.take("a") === 0) taken++;
    expect(taken).toBeGreaterThanOrEqual(700);
    expect(taken).toBeLessThanOrEqual(708);
  });

  test("of who has not asked while thousands did is forgotten; of who goes on asking it is not", () => {
    const limit = new RateLimit("rate", { perSecond: 0.001, burst: 1 }, () => 1000);
    limit.take("steady");
    limit.take("idle");
    for (let n = 0; n < 20_000; n++) {
      limit.take(`client ${n}`);
      if (n % 1000 === 0) expect(limit.take("steady")).toBeGreaterThan(0);
    }
    expect(limit.take("idle")).toBe(0);
  });

  test.each([
    [{ perSecond: 0 }, /perSecond/],
    [{ perSecond: Number.POSITIVE_INFINITY }, /perSecond/],
    [{ perSecond: 1, burst: 0 }, /burst/],
  ])("%j is none", (rate, why) => {
    expect(() => new McpServer(info, { rates: { calls: rate } })).toThrow(why);
    expect(() => new McpServer(info).tool("t", { rate }, () => "")).toThrow(why);
  });

  test("may be taken away", async () => {
    const server = new McpServer(info, { rates: { calls: false } }).tool("t", {}, () => "");
    expect(() => server.rates.calls.pass("a")).not.toThrow();
    await memory(server).close();
  });
});
