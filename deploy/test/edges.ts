/** What the clients of a balancer see where things end: wrong hosts, large bodies, instances that stop, die, or are away. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConnectionError, connect } from "@patchbay/client";
import { expect, test } from "vitest";
import { ask } from "./ask.ts";
import type { Behind } from "./behind.ts";
import { textOf } from "./body.ts";

const MIB = 1024 * 1024;

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

function initialize(): string {
  const clientInfo = { name: "edges", version: "1.0.0" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
}

export function atTheEdges(balanced: () => Behind): void {
  const url = () => `${balanced().origin}/mcp`;
  const post = (body: string, headers: object = {}) =>
    ask(url(), { method: "POST", headers: { ...JSON_HEADERS, ...headers }, body });

  test("refuses a name that the instances were not told of", async () => {
    const { status } = await post(initialize(), { host: "evil.example" });
    expect(status).toBe(403);
  });

  test.each(["/healthz", "/readyz", "/metrics", "/"])("does not show %s", async (path) => {
    expect(await ask(balanced().origin + path)).toMatchObject({
      status: 404,
      body: expect.stringContaining("/mcp"),
    });
  });

  test("takes a message of nearly 4 MiB, and refuses a larger one in words", async () => {
    const client = await connect(url());
    const message = "x".repeat(4 * MIB - 1000);
    expect(textOf(await client.callTool("echo", { message }))).toBe(message);
    await expect(client.callTool("echo", { message: message + message })).rejects.toThrow(/larger than/);
    await client.close();
  });

  test("a session ends by DELETE", async () => {
    const opened = await post(initialize());
    const headers = { "mcp-session-id": opened.headers["mcp-session-id"] };
    const ping = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" });
    expect((await post(ping, headers)).status).toBe(200);
    expect((await ask(url(), { method: "DELETE", headers })).status).toBe(204);
    expect(await post(ping, headers)).toMatchObject({
      status: 404,
      body: expect.stringContaining("initialize again"),
    });
  });

  test("what was sent is not sent again when its instance dies of it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "patchbay-edges-"));
    const file = join(folder, "deaths");
    const client = await connect(url(), { era: "modern" });
    const died = client.callTool("die", { file });
    const error: ConnectionError = await died.then(
      () => expect.unreachable("A dead instance answered"),
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(ConnectionError);
    // HAProxy closes a connection that it kept, where others say 502.
    expect(error.message).toMatch(/502.*may or may not have done it|may have run, and was not sent again/);
    expect(error.mayHaveRun).toBe(true);
    expect(readFileSync(file, "utf8")).toBe("died\n");
    rmSync(folder, { recursive: true });
    // The others go on.
    expect(textOf(await client.callTool("echo", { message: "on" }))).toBe("on");
    await client.close();
    for (const instance of balanced().instances) await instance.revive();
  });

  test("a session whose instance has died is opened anew elsewhere, and its caller sees none of it", async () => {
    const client = await connect(url(), { era: "legacy" });
    const home = textOf(await client.callTool("where"));
    const instance = balanced().instances.find(({ pid }) => String(pid()) === home);
    // What is known to be read only may be sent again, where a balancer closes a kept connection without a word.
    await client.listTools();
    await instance?.end("SIGKILL");
    const next = textOf(await client.callTool("where"));
    expect(next).not.toBe(home);
    await client.close();
    await instance?.start();
  });

  test("an instance that is told to stop finishes its calls, and no call is lost meanwhile", async () => {
    const [leaving] = balanced().instances;
    const clients = await Promise.all(
      Array.from({ length: 9 }, (_, number) =>
        connect(url(), { era: number % 3 === 0 ? "legacy" : "modern" }),
      ),
    );
    const begun: Promise<void>[] = [];
    const calls = clients.map((client) => {
      let begin = () => {};
      begun.push(
        new Promise((resolve) => {
          begin = resolve;
        }),
      );
      return client.callTool("slow", { steps: 20, milliseconds: 30 }, { onProgress: () => begin() });
    });
    await Promise.all(begun);
    // A balancer may send on a connection that its instance closes at that moment: what is read only is sent again.
    for (const client of clients) await client.listTools();
    let stopped = false;
    const ended = leaving?.end("SIGTERM").then((code) => {
      stopped = true;
      return code;
    });
    while (!stopped) {
      for (const client of clients) {
        expect(textOf(await client.callTool("where"))).toMatch(/^\d+$/);
      }
    }
    expect(await ended).toBe(0);
    expect((await Promise.all(calls)).map(textOf)).toEqual(Array(9).fill("Took 20 steps."));
    await Promise.all(clients.map((client) => client.close()));
    await leaving?.start();
  });

  test("says that no instance is up, and serves again when one is", async () => {
    const { instances, kind } = balanced();
    const client = await connect(url(), { era: "modern" });
    await Promise.all(instances.map((instance) => instance.end("SIGKILL")));
    const answered = await post(initialize());
    expect(answered.status).toBe(kind === "nginx" ? 502 : 503);
    expect(JSON.parse(answered.body)).toMatchObject({ jsonrpc: "2.0", error: { code: -32603 } });
    if (kind === "haproxy") expect(answered.headers["retry-after"]).toBe("1");
    await expect(client.callTool("echo", { message: "nobody" })).rejects.toThrow(/No instance/);
    await Promise.all(instances.map((instance) => instance.start()));
    // Each is found again: a balancer leaves out for a while what it could not reach.
    const served = new Set<string>();
    const all = instances.map(({ pid }) => String(pid()));
    await expect
      .poll(
        async () => {
          await client.callTool("where").then(
            (result) => served.add(textOf(result)),
            () => {},
          );
          return all.filter((pid) => served.has(pid));
        },
        { timeout: 20_000 },
      )
      .toEqual(all);
    await client.close();
  });
}
