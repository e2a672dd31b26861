/** Hearing of changes: one API, by `subscriptions/listen` in the modern era, by subscribing in the legacy one. */

import { once } from "node:events";
import type { JsonObject } from "@patchbay/core";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Change, type Client, type ConnectOptions, connect } from "../src/index.ts";
import { common, wants } from "../src/subscriptions/changes.ts";
import {
  discovered,
  events,
  type Hit,
  type HttpFixture,
  httpFixture,
  result,
  rpcError,
  send,
} from "./fixtures/http.ts";
import { type Asked, LEGACY, MODERN, scripted } from "./scripted.ts";

const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function serving(respond: (hit: Hit) => void): Promise<HttpFixture> {
  const fixture = await httpFixture(respond);
  cleanups.push(fixture.close);
  return fixture;
}

async function connected(url: string, options?: ConnectOptions): Promise<Client> {
  const client = await connect(url, options);
  cleanups.unshift(() => client.close());
  return client;
}

describe("filters", () => {
  test("are respected: what was asked for and acknowledged", () => {
    const asked = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ["a:/1", "a:/2"],
    };
    const offered = { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ["a:/2"] };
    const both = common(asked, offered);
    expect(both).toEqual({ toolsListChanged: true, resourceSubscriptions: ["a:/2"] });
    expect(wants(both, { kind: "tools" })).toBe(true);
    expect(wants(both, { kind: "prompts" })).toBe(false);
    expect(wants(both, { kind: "resource", uri: "a:/2" })).toBe(true);
    expect(wants(both, { kind: "resource", uri: "a:/2/part" })).toBe(true);
    expect(wants(both, { kind: "resource", uri: "a:/22" })).toBe(false);
  });
});

/** Messages of the subscription that a hit opened. */
function subscription(hit: Hit) {
  const _meta = { [SUBSCRIPTION_ID]: hit.message.id as number };
  return {
    acknowledge: (notifications: JsonObject) =>
      events(hit, { method: "notifications/subscriptions/acknowledged", params: { _meta, notifications } }),
    tell: (method: string, params: JsonObject = {}, meta: JsonObject = _meta) =>
      send(hit.response, { method, params: { ...params, _meta: meta } }),
    end: () => {
      send(hit.response, { id: hit.message.id, result: { resultType: "complete", _meta } });
      hit.response.end();
    },
  };
}

const listens = (hits: Hit[]) => hits.filter(({ message }) => message.method === "subscriptions/listen");

describe("a modern server", () => {
  test("tells of what it has acknowledged, and the application hears of nothing else", async () => {
    const { url, hits } = await serving((hit) => {
      if (discovered(hit)) return;
      const { acknowledge, tell } = subscription(hit);
      acknowledge({ toolsListChanged: true, resourceSubscriptions: ["a:b"] });
      tell("notifications/prompts/list_changed");
      tell("notifications/tools/list_changed", {}, { [SUBSCRIPTION_ID]: 99 });
      tell("notifications/tools/list_changed", {}, {});
      tell("notifications/resources/updated", { uri: "c:d" });
      tell("notifications/resources/updated", { uri: "a:b" });
      tell("notifications/tools/list_changed");
    });
    const client = await connected(url);
    const changes: Change[] = [];
    const filter = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ["a:b"] };
    const { honored, close } = await client.listen(filter, (change) => changes.push(change));
    expect(honored).toEqual({ toolsListChanged: true, resourceSubscriptions: ["a:b"] });
    await vi.waitFor(() => expect(changes).toEqual([{ kind: "resource", uri: "a:b" }, { kind: "tools" }]));
    expect(listens(hits)[0]?.message.params).toMatchObject({ notifications: filter });
    const closed = once(listens(hits)[0]?.response as NodeJS.EventEmitter, "close");
    await close();
    await closed;
    expect(listens(hits)).toHaveLength(1);
  });

  test.each(["is cut", "ends", "ends gracefully"])("is listened to again when the stream %s", async (how) => {
    const { url, hits } = await serving((hit) => {
      if (discovered(hit)) return;
      const { acknowledge, tell, end } = subscription(hit);
      acknowledge({ toolsListChanged: true });
      if (listens(hits).length > 1) tell("notifications/tools/list_changed");
      else if (how === "ends gracefully") end();
      else if (how === "ends") hit.response.end();
      else hit.response.write(":\n\n", () => hit.response.socket?.end());
    });
    const client = await connected(url);
    const changes: Change[] = [];
    const listening = await client.listen({ toolsListChanged: true }, (change) => changes.push(change));
    await vi.waitFor(() => expect(changes).toEqual([{ kind: "tools" }]), { timeout: 5_000 });
    const [first, second] = listens(hits);
    expect(second?.message.id).not.toBe(first?.message.id);
    await listening.close();
  });

  test("that changed while nobody was told has it found out, where the application has the list", async () => {
    const { url, hits } = await serving((hit) => {
      if (discovered(hit)) return;
      const { method } = hit.message;
      if (method === "tools/list") {
        const name = listens(hits).length > 1 ? "new" : "old";
        return result(hit, { tools: [{ name, inputSchema: {} }], ttlMs: 60_000 });
      }
      if (method === "prompts/list") return result(hit, { prompts: [] });
      const listening = subscription(hit);
      listening.acknowledge({
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
        resourceSubscriptions: ["a:b"],
      });
      if (listens(hits).length === 1) listening.end();
    });
    const client = await connected(url);
    await client.listTools();
    await client.listPrompts();
    const changes: Change[] = [];
    const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    await client.listen({ ...lists, resourceSubscriptions: ["a:b"] }, (change) => changes.push(change));
    await vi.waitFor(
      () => expect(changes).toEqual([{ kind: "tools" }, { kind: "resource", uri: "a:b" }]),
      5_000,
    );
    expect((await client.listTools())[0]?.name).toBe("new");
  });

  test("is not listened to again once the client is closed", async () => {
    const { url, hits } = await serving((hit) => {
      if (discovered(hit)) return;
      subscription(hit).acknowledge({ toolsListChanged: true });
      hit.response.end();
    });
    const client = await connect(url);
    await client.listen({ toolsListChanged: true }, () => {});
    await client.close();
    expect(listens(hits)).toHaveLength(1);
    await expect(client.listen({ toolsListChanged: true }, () => {})).rejects.toThrow("is closed");
  });

  test("that honors nothing is left alone", async () => {
    let closed: Promise<unknown> | undefined;
    const { url } = await serving((hit) => {
      if (discovered(hit)) return;
      closed = once(hit.response, "close");
      subscription(hit).acknowledge({});
    });
    const client = await connected(url);
    expect((await client.listen({ toolsListChanged: true }, () => {})).honored).toEqual({});
    await closed;
  });

  test("that has no subscriptions honors nothing", async () => {
    const { url } = await serving((hit) => discovered(hit) || rpcError(hit, 404, -32601));
    const client = await connected(url);
    expect((await client.listen({ toolsListChanged: true }, () => {})).honored).toEqual({});
  });

  test("that refuses, or says nothing, fails the first time", async () => {
    const { url } = await serving((hit) => {
      if (discovered(hit)) return;
      if (JSON.stringify(hit.message.params).includes("refused")) rpcError(hit, 400, -32600);
      else events(hit);
    });
    const client = await connected(url, { timeout: 500 });
    const uris = { resourceSubscriptions: ["refused:"] };
    await expect(client.listen(uris, () => {})).rejects.toMatchObject({ code: -32600 });
    await expect(client.listen({ toolsListChanged: true }, () => {})).rejects.toThrow("timeout (500 ms)");
  });

  test("that refuses later has the application warned", async () => {
    const warnings: Error[] = [];
    const { url, hits } = await serving((hit) => {
      if (discovered(hit)) return;
      if (listens(hits).length > 1) return rpcError(hit, 400, -32600);
      subscription(hit).acknowledge({ toolsListChanged: true });
      hit.response.end();
    });
    const client = await connected(url, { onWarning: (warning) => warnings.push(warning) });
    await client.listen({ toolsListChanged: true }, () => {});
    await vi.waitFor(
      () => expect(warnings[0]?.message).toContain("tells of no more changes: refused"),
      5_000,
    );
  });

  test("keeps subscriptions apart on a shared channel, and may end one", async () => {
    const asked: Asked[] = [];
    const server = scripted({
      ...MODERN,
      "subscriptions/listen": (listen) => {
        asked.push(listen);
        listen.notify("notifications/subscriptions/acknowledged", {
          _meta: { [SUBSCRIPTION_ID]: listen.id },
          notifications: { toolsListChanged: true },
        });
        return undefined;
      },
      "tools/list": () => ({ tools: [] }),
    });
    const client = await connect(server);
    const heard: string[] = [];
    await client.listen({ toolsListChanged: true }, () => heard.push("one"));
    const two = await client.listen({ toolsListChanged: true }, () => heard.push("two"));
    const [first, second] = asked as [Asked, Asked];
    const changed = (to: Asked) =>
      to.notify("notifications/tools/list_changed", { _meta: { [SUBSCRIPTION_ID]: to.id } });
    changed(second);
    changed(first);
    await client.listTools();
    expect(heard).toEqual(["two", "one"]);
    await two.close();
    changed(second);
    await client.listTools();
    expect(heard).toEqual(["two", "one"]);
    expect(server.received).toContainEqual(
      expect.objectContaining({
        method: "notifications/cancelled",
        params: expect.objectContaining({ requestId: second.id }),
      }),
    );
    first.notify("notifications/cancelled", { requestId: first.id });
    await vi.waitFor(() => expect(asked).toHaveLength(3), { timeout: 5_000 });
    changed(asked[2] as Asked);
    await vi.waitFor(() => expect(heard).toEqual(["two", "one", "one"]));
  });

  test("may not call off what is no subscription", async () => {
    const server = scripted({
      ...MODERN,
      "tools/call": ({ id, notify, answer }) => {
        notify("notifications/cancelled", { requestId: id });
        answer({ content: [] });
        return undefined;
      },
    });
    expect(await (await connect(server)).callTool("a")).toEqual({ content: [] });
  });
});

const OFFER = { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } };

describe("a legacy server", () => {
  const script = {
    ...LEGACY,
    initialize: () => ({ protocolVersion: "2025-11-25", capabilities: OFFER }),
    "resources/subscribe": ({ params }: Asked) => {
      if (params.uri === "no:") throw { code: -32002, message: "Resource not found" };
      return {};
    },
    "resources/unsubscribe": () => ({}),
    "tools/call": ({ params, notify }: Asked) => {
      const { method, uri } = params.arguments as JsonObject;
      notify(method as string, uri === undefined ? undefined : { uri });
      return { content: [] };
    },
  };

  test("tells of lists unasked, and of resources that are subscribed to, once for all", async () => {
    const server = scripted(script);
    const client = await connect(server);
    const one: Change[] = [];
    const two: Change[] = [];
    const filter = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ["a:b"] };
    const first = await client.listen(filter, (change) => one.push(change));
    const second = await client.listen({ resourceSubscriptions: ["a:b"] }, (change) => two.push(change));
    expect(first.honored).toEqual({ toolsListChanged: true, resourceSubscriptions: ["a:b"] });
    const told = (method: string, uri?: string) =>
      client.callTool("tell", { method: `notifications/${method}`, uri });
    await told("tools/list_changed");
    await told("prompts/list_changed");
    await told("resources/list_changed");
    await told("resources/updated", "a:b");
    await told("resources/updated", "c:d");
    expect(one).toEqual([{ kind: "tools" }, { kind: "resource", uri: "a:b" }]);
    expect(two).toEqual([{ kind: "resource", uri: "a:b" }]);
    await first.close();
    await first.close();
    await told("resources/updated", "a:b");
    expect([one.length, two.length]).toEqual([2, 2]);
    await second.close();
    const subscribing = server.received.filter(({ method }) => String(method).includes("subscribe"));
    expect(subscribing.map(({ method }) => method)).toEqual(["resources/subscribe", "resources/unsubscribe"]);
  });

  test("that refuses a resource fails the subscription, and nothing of it stays", async () => {
    const server = scripted(script);
    const client = await connect(server);
    await expect(client.listen({ resourceSubscriptions: ["a:b", "no:"] }, () => {})).rejects.toThrow(
      "not found",
    );
    expect(server.received).toContainEqual(
      expect.objectContaining({ method: "resources/unsubscribe", params: { uri: "a:b" } }),
    );
  });

  test("that only says it can be subscribed to honors the rest", async () => {
    const unable = () => {
      throw { code: -32601, message: "Method not found" };
    };
    const server = scripted({ ...script, "resources/subscribe": unable });
    const client = await connect(server);
    const filter = { toolsListChanged: true, resourceSubscriptions: ["a:b"] };
    const { honored, close } = await client.listen(filter, () => {});
    expect(honored).toEqual({ toolsListChanged: true });
    await close();
    expect(server.received.map(({ method }) => method)).not.toContain("resources/unsubscribe");
  });

  test("is subscribed to anew in a new session", async () => {
    let session = 0;
    let forgetful = false;
    const { url, hits } = await serving((hit) => {
      const { method } = hit.message;
      const current = `s-${session}`;
      if (method === "initialize") {
        const value = { protocolVersion: "2025-11-25", capabilities: OFFER };
        result(hit, value, { "mcp-session-id": `s-${++session}` });
      } else if (hit.verb === "GET") hit.response.writeHead(405).end();
      else if (forgetful && hit.headers["mcp-session-id"] !== "s-2") hit.response.writeHead(404).end();
      else if (method === undefined || hit.message.id === undefined) hit.response.writeHead(202).end();
      else result(hit, { tools: [], current });
    });
    const client = await connected(url, { era: "legacy" });
    await client.listen({ resourceSubscriptions: ["a:b"] }, () => {});
    forgetful = true;
    await client.listTools();
    const subscribed = await vi.waitFor(() => {
      const all = hits.filter(({ message }) => message.method === "resources/subscribe");
      expect(all).toHaveLength(2);
      return all;
    });
    expect(subscribed.map(({ headers }) => headers["mcp-session-id"])).toEqual(["s-1", "s-2"]);
  });
});
