/** What an operator sees of serve: its log, its metrics, whether it is ready; and what nobody sees. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { connect } from "@patchbay/client";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import { type RedisServer, startRedis } from "../../redis/test/redis-server.ts";
import { TASK_META } from "../../server/test/tasks.ts";
import { type Json, MODERN_META } from "../../server/test/wire.ts";
import { BIN, begin, FIXTURE, type Run, run } from "./patchbay.ts";
import { workplace } from "./workplace.ts";

// Each test starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

const place = workplace();

const INSTANCES_FIXTURE = fileURLToPath(new URL("fixtures/instances.mjs", import.meta.url));
const SECRET = "canary-secret-of-32-characters-or-more";

interface Served extends Run {
  url: string;
  /** Ends it; gives what it wrote on stderr. */
  end(): Promise<string>;
}

async function serve(words: string[], env: Record<string, string> = {}, module = FIXTURE): Promise<Served> {
  const served = begin(["serve", module, "--http", "0", ...words], { cwd: place.cwd, env });
  place.runs.push(served);
  const [, url] = await served.said("stderr", /served at (http\S+)/);
  return {
    ...served,
    url: url as string,
    async end() {
      served.child.kill("SIGTERM");
      const { code, stderr } = await served.ended;
      expect(code).toBe(0);
      return stderr;
    },
  };
}

const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  connection: "close",
};

function post(url: string, message: object, headers: Record<string, string> = {}): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  return fetch(url, { method: "POST", headers: { ...HEADERS, ...headers }, body });
}

async function openSession(url: string): Promise<{ id: string; text: string }> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const response = await post(url, { id: 0, method: "initialize", params });
  return { id: response.headers.get("mcp-session-id") as string, text: await response.text() };
}

const call = (name: string, id = 1) => ({ id, method: "tools/call", params: { name } });

describe("the log", () => {
  it("has an entry for each request and session, and for what failed, as JSON", async () => {
    const served = await serve(["--log", "json"]);
    const { id } = await openSession(served.url);
    const session = { "mcp-session-id": id };
    await post(served.url, call("pid"), session);
    await post(served.url, call("bug"), session);
    await fetch(served.url, { method: "DELETE", headers: session });
    const entries = (await served.end())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const told = entries.map(({ level, msg, method, outcome, where, err }) =>
      [level, msg, method, outcome, where, err?.type].filter((part) => part !== undefined).join(" "),
    );
    expect(told).toEqual([
      expect.stringMatching(/^info .*served at/),
      "info request initialize ok",
      "info session opened",
      "info request tools/call ok",
      "error a handler failed bug TypeError",
      "warn request tools/call tool_error",
      "info session deleted",
      "info draining",
      "info drained",
    ]);
    const [opened, deleted] = entries.filter(({ session: name }) => name !== undefined);
    expect(opened.session).toMatch(/^[0-9a-f]{12}$/);
    expect(deleted.session).toBe(opened.session);
    expect(entries.every(({ time, pid }) => time !== undefined && pid === served.child.pid)).toBe(true);
    expect(entries.find(({ err }) => err)?.err.stack).toContain("server.mjs");
  });

  it("is for people, or only of what is worse, and not on stdout", async () => {
    const input = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`;
    const pretty = await run(["serve", FIXTURE, "--log", "pretty"], { cwd: place.cwd, input });
    expect(JSON.parse(pretty.stdout)).toMatchObject({ id: 1, result: {} });
    expect(pretty.stderr).toMatch(/^\[[\d:.]+\] INFO: request \{"method":"ping",.*"outcome":"ok".*\}\n$/);
    const quiet = await run(["serve", FIXTURE, "--log", "json", "--log-level", "warn"], {
      cwd: place.cwd,
      input,
    });
    expect([quiet.code, quiet.stderr]).toEqual([0, ""]);
  });

  it("says which option is wrong", async () => {
    const { code, stderr } = await run(["serve", FIXTURE, "--log", "jsn"], { cwd: place.cwd });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/--log takes off, json, pretty.*Did you mean "json"\?/),
    ]);
  });
});

describe("what cannot be told to anybody", () => {
  it.each([
    ["one process", []],
    ["one process with a log", ["--log", "json"]],
    ["workers", ["--workers", "2"]],
    ["workers with a log", ["--workers", "2", "--log", "json"]],
  ])("does not end %s: its output closed", async (_what, words) => {
    const { url, child, ended } = await serve(words);
    child.stdout.destroy();
    child.stderr.destroy();
    const { id } = await openSession(url);
    for (let n = 0; n < 4; n++)
      expect((await post(url, call("log"), { "mcp-session-id": id })).status).toBe(200);
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0, signal: null });
  });

  it("does not keep it from ending: a log that is read no more", async () => {
    const { url, child, ended } = await serve(["--log", "json"]);
    child.stderr.pause();
    const { id } = await openSession(url);
    // More than a pipe holds.
    for (let n = 0; n < 10; n++)
      await Promise.all(
        Array.from({ length: 50 }, async (_, index) => {
          const response = await post(url, call("bug", 50 * n + index), { "mcp-session-id": id });
          await response.text();
        }),
      );
    const exit = once(child, "exit");
    child.kill("SIGTERM");
    expect(await exit).toEqual([0, null]);
    child.stderr.resume();
    await ended;
  });

  it.skipIf(!existsSync("/dev/full")).each([[["--log", "json"]], [[]]])(
    "does not end it: stderr on a full disk %j",
    async (words) => {
      const full = openSync("/dev/full", "w");
      const args = [BIN, "serve", FIXTURE, "--http", "0", "--json", ...words];
      const child = spawn(process.execPath, args, {
        stdio: ["ignore", "pipe", full],
        env: { PATH: process.env.PATH, HOME: place.cwd },
      });
      closeSync(full);
      const ended = once(child, "exit");
      try {
        const [line] = await once((child.stdout as Readable).setEncoding("utf8"), "data");
        const { url } = JSON.parse(line);
        const { id } = await openSession(url);
        for (let n = 0; n < 4; n++)
          expect((await post(url, call("log"), { "mcp-session-id": id })).status).toBe(200);
        child.kill("SIGTERM");
        expect(await ended).toEqual([0, null]);
      } finally {
        child.kill("SIGKILL");
      }
    },
  );
});

describe("no session id and no secret", () => {
  it.each(["memory", "sealed"])("is in any log, error or response body: %s", async (kind) => {
    const words = ["--log", "json", "--log-level", "trace", "--sessions", kind, "--metrics", "0"];
    const served = await serve(words, { PATCHBAY_SECRETS: SECRET });
    const [, metricsUrl] = await served.said("stderr", /Metrics are at (http[^"\s]+)/);
    const { id, text } = await openSession(served.url);
    const bodies = [text];
    const secret = { "mcp-session-id": id, authorization: "Bearer canary-token", cookie: "canary=cookie" };
    const ask = async (message: object, headers: Record<string, string> = {}) =>
      bodies.push(await (await post(served.url, message, { ...secret, ...headers })).text());
    for (const name of ["pid", "fail", "bug", "none"]) await ask(call(name));
    await ask({ id: 2, method: "acme/none" });
    await ask({ id: 3, method: 7 });
    await ask(call("pid"), { "mcp-protocol-version": "1999-01-01" });
    await ask(call("pid"), { "mcp-session-id": `${id}x` });
    const get = async (headers: Record<string, string>) =>
      bodies.push(
        await (
          await fetch(served.url, { headers: { ...secret, accept: "text/event-stream", ...headers } })
        ).text(),
      );
    await get({ "last-event-id": "canary.1" });
    await get({ accept: "text/html" });
    const state = { name: "ask", requestState: "canary-state", inputResponses: { 1: { action: "decline" } } };
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    await ask(
      { id: 4, method: "tools/call", params: { ...state, _meta } },
      { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "ask" },
    );
    bodies.push(await (await fetch(served.url, { method: "DELETE", headers: secret })).text());
    await ask(call("pid"));
    bodies.push(await (await fetch(metricsUrl as string)).text());
    const said = [...bodies, await served.end()].join("\n");
    expect(said).toContain("a handler failed");
    for (const hidden of [id, "canary"]) expect(said).not.toContain(hidden);
  });

  it("is in a client's errors, or sent on where it is redirected", async () => {
    const asked: IncomingMessage[] = [];
    const elsewhere = createServer((request, response) => {
      asked.push(request);
      response.end();
    });
    const id = "canary-session-id";
    let bad: (response: ServerResponse) => void = () => {};
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (text) => {
        body += text;
      });
      request.on("end", () => {
        const message = body === "" ? {} : JSON.parse(body);
        if (message.method === "initialize") {
          const result = {
            protocolVersion: "2025-11-25",
            capabilities: { tools: {} },
            serverInfo: { name: "s", version: "1" },
          };
          response.writeHead(200, { "content-type": "application/json", "mcp-session-id": id });
          return response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
        }
        if (message.id === undefined) return response.writeHead(request.method === "GET" ? 405 : 202).end();
        bad(response);
      });
    });
    const ports = await Promise.all(
      [server, elsewhere].map(async (each) => {
        await new Promise<void>((resolve) => each.listen(0, "127.0.0.1", resolve));
        return (each.address() as AddressInfo).port;
      }),
    );
    const failures: unknown[] = [];
    const answers: ((response: ServerResponse) => void)[] = [
      (response) => response.writeHead(307, { location: `http://127.0.0.1:${ports[1]}/` }).end(),
      (response) => response.writeHead(500).end("broken"),
      (response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
      (response) => response.destroy(),
    ];
    const client = await connect(`http://127.0.0.1:${ports[0]}/mcp`, { era: "legacy" });
    for (const answer of answers) {
      bad = answer;
      failures.push(
        await client.request("tools/call", { name: "x" }).then(
          () => "no error",
          (error) => error,
        ),
      );
    }
    await client.close();
    for (const each of [server, elsewhere]) {
      each.closeAllConnections();
      await new Promise((resolve) => each.close(resolve));
    }
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(Error);
      expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain(id);
    }
    expect(asked.filter(({ headers }) => headers["mcp-session-id"] !== undefined)).toEqual([]);
  });
});

test("the metrics of workers are scraped together, each by itself, and begin anew with who takes a place", async () => {
  const served = await serve(["--workers", "2", "--metrics", "0"]);
  const [, metricsUrl] = await served.said("stderr", /Metrics are at (http\S+)/);
  const { id } = await openSession(served.url);
  const ask = async () => {
    const { result } = (await (await post(served.url, call("pid"), { "mcp-session-id": id })).json()) as Json;
    return Number(result.content[0].text);
  };
  const pids = new Set<number>();
  let calls = 0;
  while (pids.size < 2) {
    calls++;
    pids.add(await ask());
  }
  const scrape = async () => {
    const text = await (await fetch(metricsUrl as string)).text();
    const value = (start: string, labels = "") =>
      Number(new RegExp(`^${start}${labels}[^}\\n]*}? (\\d+)$`, "m").exec(text)?.[1]);
    const called = (name: string, worker: string) =>
      value(name, `{method="tools/call",revision="2025-11-25"[^}]*worker="${worker}"`) || 0;
    return { value, called: (name: string) => called(name, "1") + called(name, "2") };
  };
  const before = await scrape();
  for (const name of ["patchbay_requests_total", "patchbay_request_duration_seconds_count"])
    expect(before.called(name)).toBe(calls);
  expect([before.value("patchbay_workers"), before.value("patchbay_worker_restarts_total")]).toEqual([2, 0]);
  expect(before.value("process_start_time_seconds", '{worker="1"')).toBeGreaterThan(0);

  process.kill([...pids][0] as number, "SIGKILL");
  await served.said("stderr", /was ended by SIGKILL/);
  await vi.waitUntil(async () => (await scrape()).value("patchbay_workers") === 2, { timeout: 30_000 });
  const after = await scrape();
  expect(after.value("patchbay_worker_restarts_total")).toBe(1);
  // What is left is of who lives; whoever took the place counts from nothing, under the same label.
  expect(after.called("patchbay_requests_total")).toBeLessThan(calls);
  expect(after.value("process_start_time_seconds", '{worker="2"')).toBeGreaterThan(0);
  await served.end();
});

test("options of metrics are checked", async () => {
  const wrong = await run(["serve", FIXTURE, "--http", "0", "--metrics", "many"], { cwd: place.cwd });
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/--metrics takes a port/)]);
  const alone = await run(["serve", FIXTURE, "--http", "0", "--metrics-host", "0.0.0.0"], { cwd: place.cwd });
  expect([alone.code, alone.stderr]).toEqual([2, expect.stringMatching(/--metrics-host is for --metrics/)]);
});

describe("with Redis", () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(() => redis.stop());

  it("instances and workers share sessions, and are ready while it is there", async () => {
    const env = { REDIS_URL: redis.url };
    const one = await serve(["--sessions", "redis"], env);
    const other = await serve(["--sessions", redis.url, "--workers", "2", "--drain-delay", "1"], {});
    const ready = async ({ url }: Served) => (await fetch(new URL("/readyz", url))).status;
    for (const each of [one, other])
      await vi.waitUntil(async () => (await ready(each)) === 200, { timeout: 30_000 });
    const { id } = await openSession(one.url);
    expect((await post(other.url, call("pid"), { "mcp-session-id": id })).status).toBe(200);
    await redis.kill();
    for (const each of [one, other])
      await vi.waitUntil(async () => (await ready(each)) === 503, { timeout: 30_000 });
    expect((await fetch(new URL("/healthz", one.url))).status).toBe(200);
    expect((await post(one.url, call("pid"), { "mcp-session-id": id })).status).toBe(503);
    await Promise.all([one.end(), other.end()]);
  });

  it("instances share tasks, and what goes on once", async () => {
    const env = { REDIS_URL: redis.url, PATCHBAY_SECRETS: SECRET };
    const [one, other] = (await Promise.all(
      [1, 2].map(() => serve(["--sessions", "redis"], env, INSTANCES_FIXTURE)),
    )) as [Served, Served];
    const ask = async ({ url }: Served, method: string, params: Json, name: string): Promise<Json> => {
      const body = { id: 1, method, params: { ...params, _meta: { ...MODERN_META, ...TASK_META } } };
      const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name };
      return (await post(url, body, headers)).json() as Promise<Json>;
    };
    const { taskId } = (await ask(one, "tools/call", { name: "work" }, "work")).result;
    await vi.waitUntil(
      async () => (await ask(other, "tasks/get", { taskId }, taskId)).result.status === "completed",
      { timeout: 30_000 },
    );
    const asked = (await ask(one, "tools/call", { name: "redeem" }, "redeem")).result;
    const [key] = Object.keys(asked.inputRequests);
    const inputResponses = { [key as string]: { action: "accept", content: {} } };
    const again = { name: "redeem", requestState: asked.requestState, inputResponses };
    const redeemed = await ask(other, "tools/call", again, "redeem");
    expect(redeemed.result.content).toEqual([{ type: "text", text: "redeemed" }]);
    expect((await ask(one, "tools/call", again, "redeem")).error.data.reason).toBe("used");
    await Promise.all([one.end(), other.end()]);
  });
});

test("Redis has to be said where, and no password is shown", async () => {
  const missing = await run(["serve", FIXTURE, "--http", "0", "--sessions", "redis"], { cwd: place.cwd });
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringMatching(/needs REDIS_URL/)]);
  const url = "redis://user:canary-password@127.0.0.1:1";
  const served = await serve(["--sessions", "redis", "--log", "json"], { REDIS_URL: url });
  await served.said("stderr", /cannot be reached|away|ECONNREFUSED/);
  const { status } = await post(served.url, call("pid"), { "mcp-session-id": "x" });
  expect(status).toBe(503);
  expect(await served.end()).not.toContain("canary");
});
