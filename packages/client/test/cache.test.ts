/** Results that may be used again: as long as the server says, until it tells of a change, within bounds. */

import type { JsonObject } from "@patchbay/core";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ResultCache } from "../src/cache.ts";
import { type ConnectOptions, connect } from "../src/index.ts";
import { discovered, httpFixture, result } from "./fixtures/http.ts";
import { type Asked, LEGACY, MODERN, type Script, scripted } from "./scripted.ts";

afterEach(() => {
  vi.useRealTimers();
});

async function modern(script: Script, options?: ConnectOptions) {
  const server = scripted({ ...MODERN, ...script });
  const client = await connect(server, options);
  const asked = (method: string) => server.received.filter((message) => message.method === method).length;
  return { client, asked };
}

const HINTS = { ttlMs: 1_000, cacheScope: "private" };
const TOOL = { name: "a", inputSchema: { type: "object" } };

describe("a list", () => {
  test("is asked for again when its time is over, or on request", async () => {
    const { client, asked } = await modern({ "tools/list": () => ({ tools: [TOOL], ...HINTS }) });
    vi.useFakeTimers({ toFake: ["performance"] });
    const first = await client.listTools();
    first.push({ name: "mine", inputSchema: {} });
    (first[0] as { name: string }).name = "changed";
    expect(await client.listTools()).toEqual([TOOL]);
    expect(asked("tools/list")).toBe(1);
    await client.listTools({ refresh: true });
    expect(asked("tools/list")).toBe(2);
    vi.advanceTimersByTime(999);
    await client.listTools();
    expect(asked("tools/list")).toBe(2);
    vi.advanceTimersByTime(1);
    await client.listTools();
    expect(asked("tools/list")).toBe(3);
  });

  test.each([0, -1, "1000", Number.NaN, undefined])(
    "with a ttlMs of %j is asked for each time",
    async (ttlMs) => {
      const { client, asked } = await modern({
        "prompts/list": () => ({ prompts: [], ...(ttlMs !== undefined && { ttlMs }) }),
      });
      await client.listPrompts();
      await client.listPrompts();
      expect(asked("prompts/list")).toBe(2);
    },
  );

  test("is kept page by page; a cursor that is void has it fetched anew", async () => {
    let round = 1;
    const { client, asked } = await modern({
      "resources/list": ({ params }) => {
        if (params.cursor === undefined) return { resources: [], nextCursor: `${round}`, ttlMs: 10_000 };
        if (params.cursor !== `${round}`) throw { code: -32602, message: "Invalid cursor" };
        return { resources: [{ uri: `a:${round}`, name: "a" }], ttlMs: 0 };
      },
    });
    expect(await client.listResources()).toMatchObject([{ uri: "a:1" }]);
    await client.listResources();
    expect(asked("resources/list")).toBe(3);
    round = 2;
    expect(await client.listResources()).toMatchObject([{ uri: "a:2" }]);
  });

  test("is not kept where the revision knows of no such thing, nor where the caller wants none", async () => {
    const tools = () => ({ tools: [], ...HINTS });
    const server = scripted({ ...LEGACY, "tools/list": tools });
    const old = await connect(server);
    await old.listTools();
    await old.listTools();
    expect(server.received.filter(({ method }) => method === "tools/list")).toHaveLength(2);
    const { client, asked } = await modern({ "tools/list": tools }, { maxCacheBytes: 0 });
    await client.listTools();
    await client.listTools();
    expect(asked("tools/list")).toBe(2);
  });
});

describe("a resource", () => {
  const read = ({ params }: Asked) => ({ contents: [{ uri: params.uri as string, text: "x" }], ...HINTS });

  test("is kept by its URI", async () => {
    const { client, asked } = await modern({ "resources/read": read });
    for (const uri of ["a:1", "a:2", "a:1"]) {
      expect((await client.readResource(uri)).contents).toEqual([{ uri, text: "x" }]);
    }
    expect(asked("resources/read")).toBe(2);
  });

  test("that took answers of the user is for this time only", async () => {
    const { client, asked } = await modern({
      "resources/read": (question) =>
        question.params.requestState === undefined
          ? { resultType: "input_required", requestState: "s" }
          : read(question),
    });
    await client.readResource("a:1");
    await client.readResource("a:1");
    expect(asked("resources/read")).toBe(4);
  });
});

test("what one principal was given, another is not", async () => {
  const fixture = await httpFixture((hit) => {
    if (discovered(hit)) return;
    const text = `for ${hit.headers.authorization}`;
    result(hit, { resultType: "complete", contents: [{ uri: "a:1", text }], ttlMs: 60_000 });
  });
  const clients = await Promise.all(
    ["Bearer ada", "Bearer bob"].map((authorization) =>
      connect({ url: fixture.url, headers: { authorization } }),
    ),
  );
  const read = () => Promise.all(clients.map(async (client) => (await client.readResource("a:1")).contents));
  const own = [[{ uri: "a:1", text: "for Bearer ada" }], [{ uri: "a:1", text: "for Bearer bob" }]];
  expect(await read()).toEqual(own);
  expect(await read()).toEqual(own);
  expect(fixture.hits.filter(({ message }) => message.method === "resources/read")).toHaveLength(2);
  await Promise.all(clients.map((client) => client.close()));
  await fixture.close();
});

test("what the server introduced itself with is kept too, except from a ping", async () => {
  const { client, asked } = await modern({
    "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities: {}, ...HINTS }),
  });
  await client.request("server/discover");
  await client.request("server/discover");
  expect(asked("server/discover")).toBe(2);
  await client.ping();
  expect(asked("server/discover")).toBe(3);
});

describe("a change that the server tells of", () => {
  test("makes what was kept worthless, and what is on its way", async () => {
    let tell = () => {};
    let hold = false;
    let release = () => {};
    const { client, asked } = await modern({
      "subscriptions/listen": ({ id, notify }) => {
        const _meta = { "io.modelcontextprotocol/subscriptionId": id };
        notify("notifications/subscriptions/acknowledged", {
          _meta,
          notifications: { toolsListChanged: true },
        });
        tell = () => notify("notifications/tools/list_changed", { _meta });
        return undefined;
      },
      "tools/list": ({ answer }) => {
        const result = { tools: [], ...HINTS };
        if (!hold) return result;
        release = () => answer(result);
        return undefined;
      },
    });
    const heard: unknown[] = [];
    const listening = await client.listen({ toolsListChanged: true }, (change) => heard.push(change));
    await client.listTools();
    tell();
    await client.ping();
    expect(heard).toHaveLength(1);
    await client.listTools();
    expect(asked("tools/list")).toBe(2);
    hold = true;
    const slow = client.listTools({ refresh: true });
    await client.ping();
    tell();
    await client.ping();
    release();
    await slow;
    hold = false;
    await client.listTools();
    expect(asked("tools/list")).toBe(4);
    await listening.close();
  });
});

describe("the cache", () => {
  const result = (size: number): JsonObject => ({ ttlMs: 60_000, text: "x".repeat(size) });

  test("has no more than its bytes; what was used least lately goes first", () => {
    const cache = new ResultCache(350);
    for (const name of ["a", "b", "c"]) cache.put("m", name, result(70), cache.moment);
    expect(cache.get("m", "a")).toBeDefined();
    cache.put("m", "d", result(70), cache.moment);
    expect(["a", "b", "c", "d"].map((name) => cache.get("m", name) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    cache.put("m", "e", result(1_000), cache.moment);
    expect(cache.get("m", "e")).toBeUndefined();
    expect(cache.get("m", "d")).toBeDefined();
  });

  test("forgets what a change is about, and all when nobody knows", () => {
    const cache = new ResultCache(10_000);
    const methods = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
    for (const method of methods) cache.put(method, "", result(1), cache.moment);
    for (const uri of ["a:/1", "a:/10"]) cache.put("resources/read", uri, result(1), cache.moment, uri);
    const kept = () => methods.filter((method) => cache.get(method, "") !== undefined);
    cache.invalidate({ kind: "resources" });
    expect(kept()).toEqual(["tools/list", "prompts/list"]);
    cache.invalidate({ kind: "tools" });
    expect(kept()).toEqual(["prompts/list"]);
    cache.invalidate({ kind: "resource", uri: "a:/1/part" });
    expect(cache.get("resources/read", "a:/1")).toBeUndefined();
    expect(cache.get("resources/read", "a:/10")).toBeDefined();
    cache.invalidate(undefined);
    expect(cache.isEmpty).toBe(true);
  });
});
