/** Observers and metrics: each request is counted once with its outcome, and nothing a client writes becomes a label. */

import { request } from "node:http";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { McpServer, type McpServerOptions } from "../src/index.ts";
import { createMetrics, type Metrics, serveMetrics } from "../src/metrics.ts";
import { type HttpServing, serveHttp } from "../src/transports/http.ts";
import { Events, HEADERS, openSession } from "./streamable.ts";
import { MODERN_META, WIRES } from "./wire.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function served(options: McpServerOptions = {}): McpServer {
  return new McpServer({ name: "s", version: "1" }, { offers: ["resources"], ...options })
    .tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => text)
    .tool("fails", {}, () => {
      throw new Error("no");
    })
    .tool("breaks", {}, () => {
      throw new TypeError("a bug");
    })
    .tool("hangs", {}, async (_, ctx) => {
      ctx.progress(1);
      await new Promise((_resolve, reject) =>
        ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)),
      );
    });
}

describe("an observer", () => {
  test.each(WIRES)("%s: hears of each request once, and how it ended", async (name, open) => {
    const revision = name.slice(-10);
    const server = served();
    const seen: string[] = [];
    const errors: string[] = [];
    const wire = await open(server);
    const end = server.observe({
      request: (method, asked) => (outcome) => seen.push(`${method} ${asked} ${outcome}`),
      error: (error, where) => errors.push(`${where}: ${error}`),
    });
    await wire.request("tools/call", { name: "echo", arguments: { text: "a" } });
    await wire.request("tools/call", { name: "fails" });
    await wire.request("tools/call", { name: "breaks" });
    await wire.request("acme/unknown");
    end();
    await wire.request("tools/list");
    expect(seen).toEqual([
      `tools/call ${revision} ok`,
      `tools/call ${revision} tool_error`,
      `tools/call ${revision} tool_error`,
      `acme/unknown ${revision} error`,
    ]);
    expect(errors).toEqual(["breaks: TypeError: a bug"]);
    await wire.close();
  });

  test("that takes errors stands in for what prints them, and not for onError", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    const onError = vi.fn();
    const error = vi.fn();
    const [plain, own] = [served(), served({ onError })];
    plain.report("first", "here");
    for (const server of [plain, own]) {
      server.observe({});
      server.observe({ error });
    }
    plain.report("second", "here");
    own.report("third", "here");
    expect(printed.mock.calls).toEqual([["[s] here:", "first"]]);
    expect(error.mock.calls).toEqual([
      ["second", "here"],
      ["third", "here"],
    ]);
    expect(onError.mock.calls).toEqual([["third", "here"]]);
    printed.mockRestore();
  });
});

async function counted(): Promise<{
  metrics: Metrics;
  running: HttpServing;
  value: (name: string) => Promise<number>;
}> {
  const metrics = createMetrics();
  const running = await serveHttp(served(), { port: 0, metrics });
  closing.push(() => running.close(0));
  const value = async (name: string) => {
    const lines = (await metrics.text()).split("\n").filter((line) => line.startsWith(name));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
  };
  return { metrics, running, value };
}

function modern(url: string, method: string, params: object = {}, signal?: AbortSignal): Promise<Response> {
  const { name } = params as { name?: string };
  return fetch(url, {
    method: "POST",
    headers: {
      ...HEADERS,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(name !== undefined && { "mcp-name": name }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: { ...params, _meta: { ...MODERN_META, progressToken: 1 } },
    }),
    ...(signal && { signal }),
  });
}

describe("metrics", () => {
  test("count requests by method, revision and outcome, and how long they took", async () => {
    const { running, value } = await counted();
    await modern(running.url, "tools/call", { name: "echo", arguments: { text: "a" } });
    await modern(running.url, "tools/call", { name: "fails", arguments: {} });
    const session = await openSession(running.url);
    await session.call(1, "echo", { text: "a" });
    await session.delete();
    const labels = (method: string, revision: string) => `{method="${method}",revision="${revision}"`;
    const [modernCall, legacyCall] = ["2026-07-28", "2025-11-25"].map((revision) =>
      labels("tools/call", revision),
    );
    expect(await value(`patchbay_requests_total${modernCall},outcome="ok"}`)).toBe(1);
    expect(await value(`patchbay_requests_total${modernCall},outcome="tool_error"}`)).toBe(1);
    expect(await value(`patchbay_requests_total${legacyCall},outcome="ok"}`)).toBe(1);
    expect(await value(`patchbay_requests_total${labels("initialize", "2025-11-25")},outcome="ok"}`)).toBe(1);
    expect(await value(`patchbay_request_duration_seconds_count${modernCall}}`)).toBe(2);
    expect(await value('patchbay_sessions_total{event="opened"}')).toBe(1);
    expect(await value('patchbay_sessions_total{event="deleted"}')).toBe(1);
    expect(await value("process_cpu_seconds_total")).toBeGreaterThan(0);
  });

  test("have no label that a client wrote", async () => {
    const { running, metrics, value } = await counted();
    for (const method of ["acme/one", "acme/two", "__proto__", 'a"b\n']) await modern(running.url, method);
    expect(await value('patchbay_requests_total{method="other"')).toBe(3);
    expect(await metrics.text()).not.toMatch(/acme|proto/);
    // The header of the fourth cannot be what its body says.
    expect(await value('patchbay_http_refusals_total{status="404"}')).toBe(3);
  });

  test("say what is open, and that it is over", async () => {
    const { running, value } = await counted();
    const session = await openSession(running.url);
    const leave = new AbortController();
    const stream = new Events(await session.get(undefined, leave.signal));
    const call = new AbortController();
    const hanging = new Events(
      await modern(running.url, "tools/call", { name: "hangs", arguments: {} }, call.signal),
    );
    expect([stream, await hanging.message()]).toMatchObject([{}, { method: "notifications/progress" }]);
    const open = ["patchbay_http_streams", "patchbay_live_sessions", "patchbay_requests_in_flight"];
    expect(await Promise.all(open.map(value))).toEqual([2, 1, 1]);
    leave.abort();
    call.abort();
    await vi.waitUntil(async () => (await Promise.all(open.slice(0, 1).map(value)))[0] === 0, {
      timeout: 30_000,
    });
    await vi.waitUntil(async () => (await value("patchbay_requests_in_flight")) === 0, { timeout: 30_000 });
    expect(
      await value('patchbay_requests_total{method="tools/call",revision="2026-07-28",outcome="cancelled"}'),
    ).toBe(1);
    await session.delete();
    expect(await value("patchbay_live_sessions")).toBe(0);
  });

  test("are added up where several servers share them, and end with each", async () => {
    const metrics = createMetrics();
    const ends = [3, 4].map((number) => metrics.gauge("test_gauge", "a number", () => number));
    expect(await metrics.text()).toContain("test_gauge 7");
    ends[0]?.();
    expect(await metrics.text()).toContain("test_gauge 4");
  });

  test("count the sessions that live, and leave out what cannot be known now", async () => {
    const { running, value, metrics } = await counted();
    const session = await openSession(running.url);
    await openSession(running.url);
    expect(await value("patchbay_stored_sessions")).toBe(2);
    await session.delete();
    expect(await value("patchbay_stored_sessions")).toBe(1);
    metrics.gauge("test_away", "a number", () => Promise.reject(new Error("away")));
    const text = await metrics.text();
    expect(text).not.toMatch(/^test_away/m);
    expect(text).toContain("patchbay_stored_sessions 1");
  });

  test("are on a port of their own, for who may see them", async () => {
    const { running, metrics } = await counted();
    expect((await fetch(new URL("/metrics", running.url))).status).toBe(404);
    const scraped = await serveMetrics(metrics, { port: 0 });
    closing.push(scraped.close);
    const response = await fetch(scraped.url);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringMatching(/^text\/plain; version=0/),
    ]);
    expect(await response.text()).toContain("patchbay_requests_in_flight 0");
    expect((await fetch(scraped.url, { method: "POST" })).status).toBe(405);
    expect((await fetch(new URL("/", scraped.url))).status).toBe(404);
    const foreign = await new Promise((resolve) =>
      request(scraped.url, { headers: { host: "evil.example" } }, ({ statusCode }) =>
        resolve(statusCode),
      ).end(),
    );
    expect(foreign).toBe(403);
  });
});
