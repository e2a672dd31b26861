/** Sessions, answers and instances that are lost over HTTP: what is sent again, what is not, and what is told. */

import type { JsonObject } from "@patchbay/core";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Client, ConnectionError, type ConnectOptions, connect } from "../src/index.ts";
import { discovered, type Hit, type HttpFixture, httpFixture, initialized, result } from "./fixtures/http.ts";

const TEXT = { content: [{ type: "text", text: "done" }] };
const TOOLS = [
  { name: "change", inputSchema: { type: "object" } },
  { name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
  { name: "set", inputSchema: { type: "object" }, annotations: { idempotentHint: true } },
];
const cleanups: (() => Promise<unknown>)[] = [];

/** A server of an era; `respond` may answer a call, and says so. */
async function serving(era: string, respond: (hit: Hit, calls: number) => unknown): Promise<HttpFixture> {
  let calls = 0;
  const fixture = await httpFixture((hit) => {
    const { method } = hit.message;
    const opened = era === "modern" ? discovered(hit) : initialized(hit, "s-1");
    if (opened) return;
    if (method === "tools/list") return result(hit, complete({ tools: TOOLS }));
    if (respond(hit, ++calls) === undefined) result(hit, complete(TEXT));
  });
  cleanups.push(fixture.close);
  return fixture;
}

const complete = (value: JsonObject) => ({ resultType: "complete", ...value });

async function connected(url: string, options?: ConnectOptions): Promise<Client> {
  const client = await connect(url, options);
  cleanups.unshift(() => client.close());
  return client;
}

const callsOf = (hits: Hit[]) => hits.filter(({ message }) => message.method === "tools/call");
const thrownBy = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

function refuse({ response }: Hit, status: number, retryAfter?: string): true {
  response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end();
  return true;
}

function reset({ response }: Hit): true {
  response.socket?.resetAndDestroy();
  return true;
}

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

describe("a legacy session that the server has lost", () => {
  test("is opened anew as it was, and the application is told once", async () => {
    const lost: ConnectionError[] = [];
    let session = 1;
    const { url, hits } = await (async () => {
      const fixture = await httpFixture((hit) => {
        const known = `s-${session}`;
        const given = hit.headers["mcp-session-id"];
        if (hit.message.method === "initialize") {
          const capabilities = { tools: {}, logging: {} };
          result(hit, { protocolVersion: "2025-11-25", capabilities }, { "mcp-session-id": known });
        } else if (given !== undefined && given !== known) refuse(hit, 404);
        else if (!initialized(hit, known)) result(hit, TEXT);
      });
      cleanups.push(fixture.close);
      return fixture;
    })();
    const client = await connected(url, { logLevel: "error", onSessionLost: (why) => lost.push(why) });
    session = 2;
    expect(await Promise.all(["a", "b"].map((name) => client.callTool(name)))).toEqual([TEXT, TEXT]);
    const sent = (method: string) =>
      hits.filter(({ message }) => message.method === method).map(({ message }) => message.params);
    await vi.waitFor(() =>
      expect(sent("logging/setLevel")).toEqual([{ level: "error" }, { level: "error" }]),
    );
    const [first, second, ...more] = sent("initialize");
    expect([second, more]).toEqual([first, []]);
    expect(lost).toMatchObject([{ reason: "refused", status: 404, mayHaveRun: false }]);
  });
});

describe.each(["modern", "legacy"])("a %s server that is busy", (era) => {
  test.each([503, 429])("and says until when is asked again then (%i)", async (status) => {
    const { url, hits } = await serving(era, (hit, calls) =>
      calls <= 2 ? refuse(hit, status, "0") : undefined,
    );
    const client = await connected(url);
    expect(await client.callTool("change")).toMatchObject(TEXT);
    expect(callsOf(hits)).toHaveLength(3);
    expect(new Set(callsOf(hits).map(({ message }) => message.id)).size).toBe(3);
  });

  test("is asked again while it is connected to, too", async () => {
    let busy = 2;
    const fixture = await httpFixture((hit) => {
      if (hit.verb === "POST" && busy-- > 0) refuse(hit, 503, "0");
      else if (!(era === "modern" ? discovered(hit) : initialized(hit, "s-1"))) result(hit, complete(TEXT));
    });
    cleanups.push(fixture.close);
    expect((await connected(fixture.url)).era).toBe(era);
  });

  test("until a date is asked again after it", async () => {
    const date = new Date(Date.now() - 1_000).toUTCString();
    const { url } = await serving(era, (hit, calls) => (calls === 1 ? refuse(hit, 503, date) : undefined));
    expect(await (await connected(url)).callTool("change")).toMatchObject(TEXT);
  });

  test.each<[string, ConnectOptions, number]>([
    ["longer than maxRetryAfter", { maxRetryAfter: 119_000 }, 1],
    ["longer than the request may take", { maxRetryAfter: 1e6, timeout: 60_000 }, 1],
  ])("%s is not waited for", async (_, options, times) => {
    const { url, hits } = await serving(era, (hit) => refuse(hit, 503, "120"));
    const client = await connected(url, options);
    expect(await thrownBy(client.callTool("change"))).toMatchObject({
      reason: "refused",
      status: 503,
      mayHaveRun: false,
      retryAfter: 120_000,
      message: expect.stringContaining("try again after 120 s"),
    });
    expect(callsOf(hits)).toHaveLength(times);
  });

  test("again and again is asked maxRetries times", async () => {
    const { url, hits } = await serving(era, (hit) => refuse(hit, 429, "0"));
    const client = await connected(url, { maxRetries: 2 });
    expect(await thrownBy(client.callTool("change"))).toMatchObject({ status: 429, retryAfter: 0 });
    expect(callsOf(hits)).toHaveLength(3);
  });

  test("and a request that waits for it can be given up", async () => {
    const controller = new AbortController();
    const { url, hits } = await serving(era, (hit) => {
      queueMicrotask(() => controller.abort(new Error("enough")));
      return refuse(hit, 503, "30");
    });
    const client = await connected(url);
    const calling = client.callTool("change", {}, { signal: controller.signal });
    await expect(calling).rejects.toThrow("enough");
    expect(callsOf(hits)).toHaveLength(1);
  });
});

describe.each(["modern", "legacy"])("an answer of a %s server that is lost", (era) => {
  const FAULTS: [string, (hit: Hit) => true][] = [
    ["its socket is reset", reset],
    ["its balancer answers 502", (hit) => refuse(hit, 502)],
    ["its balancer answers 504", (hit) => refuse(hit, 504)],
    [
      "its stream ends",
      ({ response }) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).end();
        return true;
      },
    ],
  ];

  test.each(FAULTS)("is an error at once, and not asked for again: %s", async (_, fail) => {
    const { url, hits } = await serving(era, (hit) => fail(hit));
    const client = await connected(url);
    await client.listTools();
    const error = await thrownBy(client.callTool("change"));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      mayHaveRun: true,
      message: expect.stringMatching(/^tools\/call may have run, and was not sent again: /),
    });
    expect(callsOf(hits)).toHaveLength(1);
  });

  test.each(FAULTS)("is asked for again where nothing is done twice: %s", async (_, fail) => {
    const { url, hits } = await serving(era, (hit, calls) => (calls % 2 === 1 ? fail(hit) : undefined));
    const client = await connected(url);
    await client.listTools();
    for (const tool of ["look", "set"]) expect(await client.callTool(tool)).toMatchObject(TEXT);
    const ids = callsOf(hits).map(({ message }) => message.id);
    expect([ids.length, new Set(ids).size]).toEqual([4, 4]);
  });

  test("is asked for again once", async () => {
    const { url, hits } = await serving(era, reset);
    const client = await connected(url);
    await client.listTools();
    expect(await thrownBy(client.callTool("look"))).toMatchObject({ reason: "closed", mayHaveRun: true });
    expect(callsOf(hits)).toHaveLength(2);
  });

  test("because the server failed will be lost again", async () => {
    const { url, hits } = await serving(era, (hit) => refuse(hit, 500));
    const client = await connected(url);
    await client.listTools();
    expect(await thrownBy(client.callTool("look"))).toMatchObject({ status: 500, mayHaveRun: true });
    expect(callsOf(hits)).toHaveLength(1);
  });

  test("of a request that was refused has not been worked for", async () => {
    const fixture = await serving(era, (hit) => refuse(hit, 403));
    const client = await connected(fixture.url);
    expect(await thrownBy(client.callTool("change"))).toMatchObject({ status: 403, mayHaveRun: false });
    await fixture.close();
    // The first may be sent before it is known that the connection is gone.
    await vi.waitFor(async () => {
      const error = await thrownBy(client.callTool("change"));
      expect(error).toMatchObject({ reason: "unreachable", mayHaveRun: false });
    });
  });
});

test("an instance that dies in a call whose stream could go on is given up, not waited for", async () => {
  const fixture = await serving("legacy", ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("id: a-1\ndata: \n\n", () => {
      void fixture.close();
    });
    return true;
  });
  const client = await connected(fixture.url);
  expect(await thrownBy(client.callTool("change"))).toMatchObject({ reason: "closed", mayHaveRun: true });
});
