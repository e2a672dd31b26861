/** serve --workers: processes that share a port, are started again, and end together. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "@patchbay/client";
import { describe, expect, it, test, vi } from "vitest";
import { Restarts } from "../src/serving/restarts.ts";
import { begin, FIXTURE, isAlive, type Run, run } from "./patchbay.ts";
import { workplace } from "./workplace.ts";

// Each test starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

const place = workplace();

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(holds, { timeout: 30_000 });
}

async function serve(words: string[] = [], module = FIXTURE): Promise<Run & { url: string }> {
  const served = begin(["serve", module, "--http", "0", "--workers", "2", ...words], { cwd: place.cwd });
  place.runs.push(served);
  const [, url] = await served.said("stderr", /served at (\S+) by 2 workers/);
  return { ...served, url: url as string };
}

const LEGACY = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  // Whichever worker is free accepts the next connection.
  connection: "close",
};

async function post(url: string, message: object, session?: string): Promise<Response> {
  const headers = session === undefined ? LEGACY : { ...LEGACY, "mcp-session-id": session };
  return fetch(url, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...message }) });
}

async function openSession(url: string): Promise<string> {
  const clientInfo = { name: "t", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const response = await post(url, { id: 0, method: "initialize", params });
  await response.text();
  return response.headers.get("mcp-session-id") as string;
}

async function pidOf(url: string, session: string): Promise<number> {
  const response = await post(url, { id: 1, method: "tools/call", params: { name: "pid" } }, session);
  expect(response.status).toBe(200);
  const { result } = (await response.json()) as { result: { content: [{ text: string }] } };
  return Number(result.content[0].text);
}

/** Asks until each of so many workers has answered. */
async function pidsOf(url: string, session: string, count = 2): Promise<number[]> {
  const pids = new Set<number>();
  while (pids.size < count) pids.add(await pidOf(url, session));
  return [...pids];
}

describe("workers", () => {
  it("all serve a session that any of them opened, and end in order", async () => {
    const { url, child, ended } = await serve();
    const pids = await pidsOf(url, await openSession(url));
    expect(pids.every(isAlive)).toBe(true);
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0, signal: null, stdout: "" });
    expect(pids.some(isAlive)).toBe(false);
  });

  it("go on with what another suspended", async () => {
    const { url } = await serve();
    const clients = await Promise.all(
      [1, 2, 3, 4].map(() => connect(url, { onElicit: () => ({ action: "decline" }) })),
    );
    for (const client of clients) {
      for (let round = 0; round < 4; round++) {
        expect((await client.callTool("ask")).content).toEqual([{ type: "text", text: "decline" }]);
      }
      await client.close();
    }
  });

  it("are started again when they die, at the same place", async () => {
    const { url, said } = await serve();
    const session = await openSession(url);
    const [first] = await pidsOf(url, session);
    process.kill(first as number, "SIGKILL");
    await said(
      "stderr",
      new RegExp(`Worker \\d \\(pid ${first}\\) was ended by SIGKILL; another is started in 100 ms`),
    );
    const pids = await pidsOf(url, session);
    expect(pids).not.toContain(first);
  });

  it("are not started for ever", async () => {
    const { url, said, ended } = await serve(["--max-restarts", "1"]);
    const exit = () =>
      openSession(url)
        .then((id) => post(url, { id: 1, method: "tools/call", params: { name: "exit" } }, id))
        .catch(() => {});
    await exit();
    await said("stderr", /Worker \d \(pid \d+\) ended with exit code 7; another/);
    const over = said("stderr", /Worker \d .* started again as often as --max-restarts allows \(1\)/);
    over.catch(() => {});
    let ends = false;
    void ended.then(() => {
      ends = true;
    });
    while (!ends) await exit();
    await over;
    expect((await ended).code).toBe(1);
  });

  it("end with the process that started them, however it ends", async () => {
    const { url, child, ended } = await serve();
    const pids = await pidsOf(url, await openSession(url));
    child.kill("SIGKILL");
    await ended;
    await until(() => !pids.some(isAlive));
  });

  it("say once what is wrong", async () => {
    const missing = await run(["serve", "./missing.js", "--http", "0", "--workers", "2"], { cwd: place.cwd });
    expect([missing.code, missing.stderr.match(/no such file/g)?.length]).toEqual([2, 1]);
    const { url } = await serve();
    const taken = await run(["serve", "calculator", "--http", new URL(url).port, "--workers", "2"], {
      cwd: place.cwd,
    });
    expect([taken.code, taken.stderr.match(/is taken/g)?.length]).toEqual([1, 1]);
  });
});

describe("draining", () => {
  it.each([
    ["one process", []],
    ["workers", ["--workers", "2"]],
  ])("%s: not ready first, then what is being answered is answered, exit 0", async (_what, words) => {
    const args = ["serve", FIXTURE, "--http", "0", "--drain-delay", "3000", ...words];
    const { child, ended, said } = begin(args, { cwd: place.cwd });
    const [, url] = await said("stderr", /served at (\S+)/);
    const ready = () => fetch(new URL("/readyz", url), { headers: { connection: "close" } });
    expect((await ready()).status).toBe(200);
    const session = await openSession(url as string);
    const path = join(place.cwd, "there");
    const params = { name: "until_file", arguments: { path }, _meta: { progressToken: 1 } };
    const call = await post(url as string, { id: 7, method: "tools/call", params }, session);
    child.kill("SIGTERM");
    await until(async () => (await ready()).status === 503);
    // Still served, while balancers look away.
    expect(await (await fetch(new URL("/healthz", url))).text()).toBe("ok\n");
    expect(await openSession(url as string)).toMatch(/./);
    await until(() =>
      ready().then(
        () => false,
        () => true,
      ),
    );
    writeFileSync(path, "");
    expect(await call.text()).toContain("it is there");
    expect(await ended).toMatchObject({ code: 0, signal: null });
  });

  it.each([
    ["one process", []],
    ["workers", ["--workers", "2"]],
  ])("%s: no longer than --drain-timeout, exit 0", async (_what, words) => {
    const { child, ended, said } = begin(
      ["serve", FIXTURE, "--http", "0", "--drain-timeout", "50", ...words],
      { cwd: place.cwd },
    );
    const [, url] = await said("stderr", /served at (\S+)/);
    const session = await openSession(url as string);
    const params = { name: "hang", _meta: { progressToken: 1 } };
    const call = await post(url as string, { id: 7, method: "tools/call", params }, session);
    child.kill("SIGTERM");
    await call.text().catch(() => {});
    expect(await ended).toMatchObject({ code: 0, signal: null });
  });

  it.each([
    ["one process", []],
    ["workers", ["--workers", "2"]],
  ])("%s: a second signal ends it at once", async (_what, words) => {
    const { child, ended, said } = begin(
      ["serve", FIXTURE, "--http", "0", "--drain-delay", "1000000", ...words],
      { cwd: place.cwd },
    );
    const [, url] = await said("stderr", /served at (\S+)/);
    const pid = await pidOf(url as string, await openSession(url as string));
    child.kill("SIGTERM");
    await until(async () => (await fetch(new URL("/readyz", url))).status === 503);
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 143 });
    await until(() => !isAlive(pid));
  });
});

test("restarts wait longer and longer while a worker dies young, and are not for ever", () => {
  const restarts = new Restarts(12);
  const waits = Array.from({ length: 13 }, () => restarts.after(59_999));
  expect(waits).toEqual([
    100,
    200,
    400,
    800,
    1600,
    3200,
    6400,
    12_800,
    25_600,
    30_000,
    30_000,
    30_000,
    undefined,
  ]);
  const patient = new Restarts(1);
  expect([patient.after(0), patient.after(60_000), patient.after(60_000)]).toEqual([100, 100, 100]);
  expect(new Restarts(0).after(60_000)).toBeUndefined();
});

describe("options that do not go together", () => {
  const SECRET = "x".repeat(32);
  it.each([
    [["--workers", "2", "--sessions", "memory"], /--workers out|of 2 workers another/],
    [["--workers", "0"], /--workers takes a number from 1 to 256, or auto/],
    [["--sessions", "seald"], /takes memory, sealed, stateless.*Did you mean "sealed"\?/],
    [["--instance", "A b"], /--instance takes 1 to 63/],
    [["--drain-timeout", "soon"], /milliseconds/],
    [["--max-restarts", "many"], /--max-restarts takes a whole number/],
    [["--path", "mcp"], /--path "mcp" cannot be one: it begins with "\/"/],
    [["--path", "/healthz"], /--path "\/healthz" is taken/],
    [
      ["--allow-host", "https://mcp.example.com"],
      /--allow-host: "https:\/\/mcp.example.com" is no host name/,
    ],
    [["--allow-host", "mcp.example.com:443"], /without a scheme, port or path/],
    [["--host", "192.0.2.1", "--allow-host", "a.example"], /--host 192.0.2.1 is no address of this machine/],
    [["--host", "192.0.2.1", "--allow-host", "*", "--workers", "2"], /--host 192.0.2.1 is no address/],
    [["--metrics", "0", "--metrics-host", "192.0.2.1"], /--metrics-host 192.0.2.1 is no address/],
    [["--sessions", "redis://:canary@[bad"], /--sessions is no URL of a Redis/],
    [["--sessions", "redis://:canary%@a"], /special in a password written as %40/],
    [["--sessions", "https://:canary@a"], /--sessions takes memory.*not another URL/],
  ])("%s", async (words, what) => {
    const { code, stderr } = await run(["serve", "calculator", "--http", "0", ...words], { cwd: place.cwd });
    expect([code, stderr]).toEqual([2, expect.stringMatching(what)]);
    expect(stderr.trim().split("\n").length).toBeLessThan(3);
    expect(stderr).not.toContain("canary");
  });

  it("without --http, and secrets that are short", async () => {
    const overStdio = await run(["serve", "calculator", "--workers", "2"], { cwd: place.cwd });
    expect([overStdio.code, overStdio.stderr]).toEqual([
      2,
      expect.stringMatching(/--workers is for HTTP: add --http/),
    ]);
    const env = { PATCHBAY_SECRETS: `${SECRET},short` };
    const short = await run(["serve", "calculator", "--http", "0"], { cwd: place.cwd, env });
    expect([short.code, short.stderr]).toEqual([
      2,
      expect.stringMatching(/PATCHBAY_SECRETS: each secret has at least 32/),
    ]);
    expect(short.stderr).not.toContain("short,");
  });

  it("one of several instances says when it has no secrets in common with them", async () => {
    const served = begin(["serve", FIXTURE, "--http", "0", "--instance", "a"], { cwd: place.cwd });
    place.runs.push(served);
    await served.said("stderr", /PATCHBAY_SECRETS is not set: another instance cannot go on/);
  });

  it("secrets are shared by instances, and taken out of the environment", async () => {
    const env = { PATCHBAY_SECRETS: SECRET };
    const urls = [];
    for (const instance of ["a", "b"]) {
      const words = ["serve", FIXTURE, "--http", "0", "--sessions", "sealed", "--instance", instance];
      const served = begin(words, { cwd: place.cwd, env });
      place.runs.push(served);
      urls.push((await served.said("stderr", /served at (\S+)/))[1] as string);
    }
    const [a, b] = urls as [string, string];
    const session = await openSession(a);
    expect(session).toMatch(/^a\./);
    expect(await pidOf(b, session)).toBeGreaterThan(0);
    const params = { name: "environment", arguments: { name: "PATCHBAY_SECRETS" } };
    const told = await post(a, { id: 1, method: "tools/call", params }, session);
    expect(await told.text()).toContain("not set");
  });
});
