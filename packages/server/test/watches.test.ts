/** Resources that are watched as long as somebody subscribed to them, in both eras. */

import { ErrorCode, ProtocolError } from "@patchbay/core";
import { expect, test } from "vitest";
import { McpServer } from "../src/server.ts";
import { WIRES, type Wire } from "./wire.ts";

/** A server that writes down which of its files are watched; the odd one may not be. */
function watchful(options = {}): { server: McpServer; watched: string[] } {
  const watched: string[] = [];
  const server = new McpServer({ name: "files", version: "1" }, options);
  const watch = async (uri: string) => {
    if (uri.endsWith("odd")) throw new ProtocolError(ErrorCode.InvalidParams, "not this one");
    watched.push(uri);
    return () => void watched.splice(watched.indexOf(uri), 1);
  };
  server.resourceTemplate("test://{name}", { name: "file", watch }, () => "text");
  server.resource("test://own", { name: "own", watch }, () => "text");
  server.resource("test://plain", { name: "plain" }, () => "text");
  return { server, watched };
}

function openLegacy(server: McpServer): Promise<Wire> {
  const found = WIRES.find(([name]) => name === "memory, 2025-11-25") as (typeof WIRES)[number];
  return found[1](server);
}

test.each(WIRES)("are watched from the subscription to its end (%s)", async (_name, open) => {
  const { server, watched } = watchful();
  const wire = await open(server);
  const uris = ["test://a", "test://own", "test://plain"];
  if (wire.era === "legacy") {
    for (const uri of uris) await wire.request("resources/subscribe", { uri });
    await wire.request("resources/subscribe", { uri: "test://a" });
    expect(watched.sort()).toEqual(["test://a", "test://own"]);
    const refused = await wire.request("resources/subscribe", { uri: "test://odd" });
    expect(refused.error).toMatchObject({ code: -32602, message: "not this one" });
    for (const uri of uris) await wire.request("resources/unsubscribe", { uri });
  } else {
    const notifications = { resourceSubscriptions: [...uris, "test://odd"] };
    void wire.request("subscriptions/listen", { notifications }, "listening").catch(() => {});
    const { params } = await wire.notification(({ method }) => method.endsWith("/acknowledged"));
    expect(params.notifications).toEqual({ resourceSubscriptions: uris });
    expect(watched.sort()).toEqual(["test://a", "test://own"]);
    await wire.cancel("listening");
  }
  await expect.poll(() => watched).toEqual([]);
  await wire.close();
});

test("a session's oldest are let go where there are too many, and a limit has to be one", async () => {
  const { server, watched } = watchful({ maxWatches: 2 });
  const wire = await openLegacy(server);
  for (const name of ["a", "b", "c"]) await wire.request("resources/subscribe", { uri: `test://${name}` });
  expect(watched).toEqual(["test://b", "test://c"]);
  await wire.close();
  expect(() => new McpServer({ name: "x", version: "1" }, { maxWatches: 0 })).toThrow("maxWatches must be");
});

test("what a server includes is watched there", async () => {
  const { server, watched } = watchful();
  const whole = new McpServer({ name: "whole", version: "1" }).include(server);
  const wire = await openLegacy(whole);
  await wire.request("resources/subscribe", { uri: "test://a" });
  expect(watched).toEqual(["test://a"]);
  server.resourceUpdated("test://a");
  await wire.notification(({ method }) => method === "notifications/resources/updated");
  await wire.close();
});
