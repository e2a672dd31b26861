/** Sessions that a server forgets, however it says so, and servers that hinder the opening of the next. */

import { afterEach, describe, expect, test, vi } from "vitest";
import { type Client, type ConnectOptions, connect } from "../src/index.ts";
import { type Hit, type HttpFixture, httpFixture, initialized, json, result } from "./fixtures/http.ts";

const TEXT = { content: [{ type: "text", text: "done" }] };
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

interface Forgetful extends HttpFixture {
  /** From now on the session is not known; the next that is opened is. */
  forget(): void;
  /** How often a method was asked for. */
  count(method: string): number;
}

/** A legacy server; `respond` may answer a request of a known session, and says so. */
async function forgetful(
  refuse: (hit: Hit) => void,
  respond: (hit: Hit) => unknown = () => undefined,
): Promise<Forgetful> {
  let opened = 0;
  let known = "";
  const fixture = await httpFixture((hit) => {
    const session = hit.headers["mcp-session-id"];
    if (hit.verb === "POST" && session !== undefined && session !== known) return refuse(hit);
    if (respond(hit) !== undefined) return;
    if (hit.message.method === "initialize") {
      known = `s-${++opened}`;
      const capabilities = { tools: {}, resources: { subscribe: true }, logging: {} };
      result(hit, { protocolVersion: "2025-11-25", capabilities }, { "mcp-session-id": known });
    } else if (!initialized(hit, known)) result(hit, TEXT);
  });
  cleanups.push(fixture.close);
  return {
    ...fixture,
    forget: () => {
      known = "";
    },
    count: (method) => fixture.hits.filter(({ message }) => message.method === method).length,
  };
}

async function connected(url: string, options?: ConnectOptions): Promise<Client> {
  const client = await connect(url, { era: "legacy", ...options });
  cleanups.unshift(() => client.close());
  return client;
}

const thrownBy = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

const status =
  (code: number, text = "") =>
  ({ response }: Hit) =>
    void response.writeHead(code).end(text);
const rpc = (message: string) => (hit: Hit) =>
  json(hit, { jsonrpc: "2.0", id: null, error: { code: -32000, message } }, 400);

describe("a session that is forgotten", () => {
  test.each([
    ["404", status(404)],
    ["400: No valid session ID", rpc("Bad Request: No valid session ID provided")],
    ["400: Server not initialized", rpc("Bad Request: Server not initialized")],
    ["400: Session not found", rpc("Session not found")],
    ["400 as text", status(400, "Invalid or missing session ID")],
  ])("is opened anew once for all callers, and each call is made once (%s)", async (_, refuse) => {
    const server = await forgetful(refuse);
    const client = await connected(server.url);
    server.forget();
    const calls = Array.from({ length: 100 }, (_, call) => client.callTool("change", { call }));
    expect(await Promise.all(calls)).toEqual(calls.map(() => TEXT));
    expect(server.count("initialize")).toBe(2);
    const done = server.hits
      .filter(
        ({ message, headers }) => message.method === "tools/call" && headers["mcp-session-id"] === "s-2",
      )
      .map(({ message }) => (message.params as { arguments: { call: number } }).arguments.call);
    expect(done.sort((a, b) => a - b)).toEqual(calls.map((_, call) => call));
  });

  test("is not what every 400 means", async () => {
    const server = await forgetful(status(404), (hit) => {
      if (hit.message.method !== "tools/call") return undefined;
      rpc("Bad Request: the arguments are too many")(hit);
      return true;
    });
    const client = await connected(server.url);
    expect(await thrownBy(client.callTool("change"))).toMatchObject({ code: -32000 });
    expect([server.count("initialize"), server.count("tools/call")]).toEqual([1, 1]);
  });

  test("by a server that forgets each is asked for once more by each call, and no more", async () => {
    const server = await forgetful(status(404), (hit) => {
      if (hit.message.method !== "tools/call") return undefined;
      status(404)(hit);
      return true;
    });
    const client = await connected(server.url);
    for (let calls = 0; calls < 2; calls++)
      expect(await thrownBy(client.callTool("change"))).toMatchObject({ status: 404, mayHaveRun: false });
    expect(server.count("tools/call")).toBe(4);
    expect(server.count("initialize")).toBeLessThanOrEqual(5);
  });

  test.each([
    ["opened", "initialize"],
    ["taken up", "notifications/initialized"],
  ])("whose successor is never %s has what waits told so", async (_what, method) => {
    let hangs = false;
    const server = await forgetful(status(404), ({ message }) =>
      hangs && message.method === method ? true : undefined,
    );
    const client = await connected(server.url, { connectTimeout: 500 });
    hangs = true;
    server.forget();
    expect(await thrownBy(client.callTool("change"))).toMatchObject({
      reason: "silent",
      mayHaveRun: false,
      message: expect.stringContaining("connectTimeout (500 ms)"),
    });
    hangs = false;
    expect(await client.callTool("change")).toEqual(TEXT);
  });

  test.each([
    ["initialize", 4],
    ["notifications/initialized", 2],
  ])("is opened anew though the server wants that later (%s)", async (method, opened) => {
    let busy = 0;
    const server = await forgetful(status(404), ({ message, response }) => {
      if (message.method !== method || busy === 0) return undefined;
      busy--;
      response.writeHead(503, { "retry-after": "0" }).end();
      return true;
    });
    const lost: Error[] = [];
    const client = await connected(server.url, {
      connectTimeout: 2000,
      onSessionLost: (why) => lost.push(why),
    });
    busy = 2;
    server.forget();
    expect(await client.callTool("change")).toEqual(TEXT);
    expect(server.count("initialize")).toBe(opened);
    expect(server.count("notifications/initialized")).toBe(6 - opened);
    expect(lost).toEqual([expect.objectContaining({ status: 404 })]);
  });

  test("is opened anew though a 404 is the first answer to that, too", async () => {
    let strange = false;
    const server = await forgetful(status(404), (hit) => {
      if (hit.message.method !== "initialize" || !strange) return undefined;
      strange = false;
      status(404)(hit);
      return true;
    });
    const client = await connected(server.url, { connectTimeout: 2000 });
    strange = true;
    server.forget();
    expect(await client.callTool("change")).toEqual(TEXT);
  });

  test("has each resource watched once in the next, those asked for meanwhile too", async () => {
    let opening: Hit | undefined;
    let waits = false;
    const server = await forgetful(status(404), (hit) => {
      if (!waits || hit.message.method !== "initialize") return undefined;
      opening = hit;
      return true;
    });
    const client = await connected(server.url);
    await client.listen({ resourceSubscriptions: ["a:1"] }, () => {});
    waits = true;
    server.forget();
    const calling = client.callTool("change");
    await vi.waitFor(() => expect(opening).toBeDefined());
    const listening = client.listen({ resourceSubscriptions: ["a:1", "a:2"] }, () => {});
    const capabilities = { tools: {}, resources: { subscribe: true } };
    // The server knows no session until one is named: this one it takes for new.
    if (opening !== undefined) result(opening, { protocolVersion: "2025-11-25", capabilities });
    await Promise.all([calling, listening]);
    await client.callTool("change");
    const watched = () =>
      server.hits
        .filter(({ message }) => message.method === "resources/subscribe")
        .map(({ message }) => (message.params as { uri: string }).uri)
        .sort();
    await vi.waitFor(() => expect(watched().length).toBeGreaterThanOrEqual(3));
    expect(watched()).toEqual(["a:1", "a:1", "a:2"]);
  });
});

describe("what a server never answers", () => {
  const never = (method: string) => (hit: Hit) => (hit.message.method === method ? true : undefined);

  test("while it is connected to ends with connectTimeout", async () => {
    const server = await forgetful(status(404), never("logging/setLevel"));
    const error = await thrownBy(
      connect(server.url, { era: "legacy", connectTimeout: 300, logLevel: "info" }),
    );
    expect(error).toMatchObject({
      reason: "silent",
      message: expect.stringContaining("connectTimeout (300 ms)"),
    });
  });

  test("while it is connected to ends with the caller's signal", async () => {
    const giveUp = new AbortController();
    const server = await forgetful(status(404), (hit) => {
      if (hit.message.method !== "logging/setLevel") return undefined;
      giveUp.abort(new Error("no more"));
      return true;
    });
    await expect(
      connect(server.url, { era: "legacy", logLevel: "info", signal: giveUp.signal }),
    ).rejects.toThrow("no more");
  });

  test("ends with timeout though it need not be answered but taken", async () => {
    const server = await forgetful(status(404), never("notifications/roots/list_changed"));
    const client = await connected(server.url, { timeout: 300, roots: [] });
    expect(await thrownBy(client.setRoots([]))).toMatchObject({
      reason: "silent",
      mayHaveRun: true,
      message: expect.stringContaining("timeout (300 ms)"),
    });
  });
});

test.each(["soon", "-5", "1e3"])("a Retry-After that says nothing (%s) is none", async (retryAfter) => {
  const server = await forgetful(status(404), ({ message, response }) => {
    if (message.method !== "tools/call") return undefined;
    response.writeHead(503, { "retry-after": retryAfter }).end();
    return true;
  });
  const client = await connected(server.url);
  expect(await thrownBy(client.callTool("change"))).toMatchObject({
    mayHaveRun: true,
    retryAfter: undefined,
  });
  expect(server.count("tools/call")).toBe(1);
});
