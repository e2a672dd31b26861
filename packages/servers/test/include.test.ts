/** One server within another: what it offers is offered there too, under names of its own. */

import { connect } from "@patchbay/client";
import { McpServer } from "@patchbay/server";
import { expect, test } from "vitest";
import { z } from "zod";

function notes(): McpServer {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  server.tool("add", { input: z.object({ text: z.string() }) }, ({ text }) => `kept ${text}`);
  server.tool("ask", {}, async (_, ctx) => {
    const { action } = await ctx.elicit("Sure?", z.object({ yes: z.boolean() }));
    return action;
  });
  server.prompt(
    "sum_up",
    { arguments: [{ name: "of" }], complete: { of: () => ["today", "yesterday"] } },
    ({ of }) => `Sum up ${of}`,
  );
  server.resource("note://1", { name: "first" }, () => "one");
  server.resourceTemplate("note://by/{who}", { name: "by" }, (_uri, { who }) => `by ${who}`);
  server.method("acme/count", () => ({ count: 1 }));
  return server;
}

function both(inner = notes()): McpServer {
  const outer = new McpServer({ name: "outer", version: "1.0.0" });
  outer.tool("add", {}, () => "the outer's own");
  return outer.include(inner, { prefix: "notes_" });
}

test("all that it offers is there, by names that begin with the prefix", async () => {
  const client = await connect(both(), { onElicit: () => ({ action: "decline" }) });
  expect((await client.listTools()).map(({ name }) => name)).toEqual(["add", "notes_add", "notes_ask"]);
  expect(await client.callTool("notes_add", { text: "tea" })).toMatchObject({
    content: [{ text: "kept tea" }],
  });
  expect(await client.callTool("add")).toMatchObject({ content: [{ text: "the outer's own" }] });
  expect(await client.callTool("notes_ask")).toMatchObject({ content: [{ text: "decline" }] });
  expect(await client.callTool("notes_add", { text: 1 })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("notes_add") }],
  });
  expect(await client.getPrompt("notes_sum_up", { of: "it" })).toMatchObject({
    messages: [{ content: { text: "Sum up it" } }],
  });
  const ref = { type: "ref/prompt", name: "notes_sum_up" } as const;
  expect(await client.complete({ ref, argument: { name: "of", value: "" } })).toMatchObject({
    completion: { values: ["today", "yesterday"] },
  });
  expect(await client.readResource("note://1")).toMatchObject({ contents: [{ text: "one" }] });
  expect(await client.readResource("note://by/me")).toMatchObject({ contents: [{ text: "by me" }] });
  await client.close();
});

test("what changes there changes here, and clients are told", async () => {
  const inner = notes();
  const client = await connect(both(inner));
  const heard: string[] = [];
  let wake = () => {};
  const listening = await client.listen(
    { toolsListChanged: true, resourceSubscriptions: ["note://1"] },
    (change) => {
      heard.push(change.kind === "resource" ? change.uri : change.kind);
      wake();
    },
  );
  const hears = async (what: string) => {
    while (!heard.includes(what)) await new Promise<void>((resolve) => (wake = resolve));
  };
  inner.resourceUpdated("note://1");
  await hears("note://1");
  inner.removeTool("add");
  inner.tool("later", {}, () => "here");
  await hears("tools");
  expect((await client.listTools()).map(({ name }) => name)).toEqual(["add", "notes_ask", "notes_later"]);
  await listening.close();
  await client.close();
});

test("a name that is taken is an error, and nothing is included", () => {
  const outer = new McpServer({ name: "outer", version: "1.0.0" });
  outer.resource("note://1", { name: "own" }, () => "mine");
  expect(() => outer.include(notes())).toThrow('"note://1" already');
  expect(outer.capabilities.tools).toBeUndefined();
});

test("middleware that would not be passed is not lost in silence", () => {
  const guarded = notes().use((_request, next) => next());
  expect(() => both(guarded)).toThrow('"notes" has middleware');
});
