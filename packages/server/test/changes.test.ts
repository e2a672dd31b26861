/** What changes while a server runs reaches those who asked to be told, and nobody else. */

import { META } from "@patchbay/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { McpServer } from "../src/index.ts";
import { type Json, WIRES, type Wire } from "./wire.ts";

function create(): McpServer {
  return new McpServer({ name: "changes", version: "1" }, { offers: ["prompts"] })
    .tool("first", {}, () => "first")
    .resource("test://watched", { name: "watched" }, () => "w");
}

const wires = (accept: (name: string) => boolean) => WIRES.filter(([name]) => accept(name));
const isChange = ({ method }: Json) => method.endsWith("/list_changed") || method.endsWith("/updated");

describe.each(wires((name) => name.endsWith("2026-07-28")))("%s", (_name, open) => {
  /** Opens a subscription, and waits until it is acknowledged. */
  async function listen(
    wire: Wire,
    id: string,
    notifications: Json,
  ): Promise<{ ended: Promise<Json>; filter: Json }> {
    const ended = wire.request("subscriptions/listen", { notifications }, id);
    ended.catch(() => {});
    const mine = ({ params }: Json) => params._meta?.[META.subscriptionId] === id;
    const acknowledged = await wire.notification(mine);
    expect(acknowledged.method).toBe("notifications/subscriptions/acknowledged");
    return { ended, filter: acknowledged.params.notifications };
  }

  test("a subscription is told of what it asked for, marked with its id", async () => {
    const server = create();
    const wire = await open(server);
    const { filter } = await listen(wire, "s1", {
      toolsListChanged: true,
      promptsListChanged: false,
      resourceSubscriptions: ["test://watched"],
    });
    expect(filter).toEqual({ toolsListChanged: true, resourceSubscriptions: ["test://watched"] });
    server.tool("second", {}, () => "").tool("third", {}, () => "");
    server.prompt("unasked", {}, () => "");
    server.resourceUpdated("test://other");
    server.resourceUpdated("test://watched");
    server.resourceUpdated("test://watched");
    await wire.notification(({ method }) => method === "notifications/resources/updated");
    expect(wire.notifications.filter(isChange).map(({ method, params }) => [method, params])).toEqual([
      ["notifications/tools/list_changed", { _meta: { [META.subscriptionId]: "s1" } }],
      ["notifications/resources/updated", { uri: "test://watched", _meta: { [META.subscriptionId]: "s1" } }],
    ]);
    await wire.cancel("s1");
    await wire.close();
  });

  test("two subscriptions are told apart", async () => {
    const server = create();
    const wire = await open(server);
    await listen(wire, "tools", { toolsListChanged: true });
    await listen(wire, "prompts", { promptsListChanged: true });
    server.removeTool("first");
    server.prompt("new", {}, () => "");
    await wire.notification(({ method }) => method === "notifications/tools/list_changed");
    await wire.notification(({ method }) => method === "notifications/prompts/list_changed");
    const told = wire.notifications
      .filter(isChange)
      .map(({ method, params }) => [method, params._meta[META.subscriptionId]]);
    expect(told.sort()).toEqual([
      ["notifications/prompts/list_changed", "prompts"],
      ["notifications/tools/list_changed", "tools"],
    ]);
    await wire.close();
  });

  test("a filter that is none is refused, and more than may be watched", async () => {
    const wire = await open(create());
    for (const notifications of [
      undefined,
      [],
      "all",
      { resourceSubscriptions: "x" },
      { resourceSubscriptions: [1] },
    ]) {
      expect((await wire.request("subscriptions/listen", { notifications })).error.code).toBe(-32602);
    }
    const many = Array.from({ length: 1001 }, (_, index) => `test://${index}`);
    const { error } = await wire.request("subscriptions/listen", {
      notifications: { resourceSubscriptions: many },
    });
    expect(error.data).toEqual({ limit: "maxWatched", value: 1000 });
    await wire.close();
  });

  test("one that is cancelled hears no more, and the server keeps nothing of it", async () => {
    const server = create();
    const wire = await open(server);
    await listen(wire, "gone", { toolsListChanged: true });
    await wire.cancel("gone");
    await listen(wire, "stays", { toolsListChanged: true });
    server.removeTool("first");
    await wire.notification(({ method }) => method === "notifications/tools/list_changed");
    expect(
      wire.notifications.filter(isChange).map(({ params }) => params._meta[META.subscriptionId]),
    ).toEqual(["stays"]);
    await wire.close();
  });

  test("the end of the server is told", async () => {
    const wire = await open(create());
    const { ended } = await listen(wire, "open", { toolsListChanged: true });
    await Promise.all([
      wire.close(),
      _name.startsWith("memory")
        ? undefined
        : expect(ended).resolves.toMatchObject({
            id: "open",
            result: { resultType: "complete", _meta: { [META.subscriptionId]: "open" } },
          }),
    ]);
    // Where it has no stream of its own it is called off as well, before it is answered.
    if (_name.startsWith("stdio"))
      expect(wire.notifications.at(-1)).toMatchObject({
        method: "notifications/cancelled",
        params: { requestId: "open", _meta: { [META.subscriptionId]: "open" } },
      });
  });
});

describe.each(wires((name) => !name.endsWith("2026-07-28")))("%s", (_name, open) => {
  test("a session is told of lists, and of the resources that it subscribed to", async () => {
    const server = create();
    const wire = await open(server);
    await wire.listen();
    expect((await wire.request("resources/subscribe", { uri: "test://watched" })).result).toEqual({});
    expect((await wire.request("resources/subscribe", { uri: 5 })).error.code).toBe(-32602);
    server.resourceUpdated("test://watched");
    server.resourceUpdated("test://other");
    server.tool("second", { input: z.object({}) }, () => "");
    await wire.notification(({ method }) => method === "notifications/tools/list_changed");
    expect((await wire.request("resources/unsubscribe", { uri: "test://watched" })).result).toEqual({});
    server.resourceUpdated("test://watched");
    server.prompt("last", {}, () => "");
    await wire.notification(({ method }) => method === "notifications/prompts/list_changed");
    expect(wire.notifications.map(({ method, params }) => [method, params])).toEqual([
      ["notifications/resources/updated", { uri: "test://watched" }],
      ["notifications/tools/list_changed", undefined],
      ["notifications/prompts/list_changed", undefined],
    ]);
    await wire.close();
  });
});

test("what is withdrawn is gone, and what comes is there", async () => {
  const server = create();
  const wire = await (WIRES[0] as (typeof WIRES)[0])[1](server);
  const names = async () => (await wire.request("tools/list")).result.tools.map((tool: Json) => tool.name);
  expect(await names()).toEqual(["first"]);
  server.tool("second", {}, () => "2");
  expect(await names()).toEqual(["first", "second"]);
  expect(server.removeTool("first")).toBe(true);
  expect(server.removeTool("first")).toBe(false);
  expect(await names()).toEqual(["second"]);
  expect((await wire.request("tools/call", { name: "first" })).error.code).toBe(-32602);
  expect(server.removeTool("second")).toBe(true);
  expect(await names()).toEqual([]);
  expect((await wire.request("prompts/list")).result.prompts).toEqual([]);
  expect(server.removeResource("test://watched")).toBe(true);
  expect(server.removeResourceTemplate("test://{none}")).toBe(false);
  expect(server.removePrompt("none")).toBe(false);
  await wire.close();
});
