/** A client that is given a server's type knows its tools; one that is not takes any. */

import { type Client, connect } from "@patchbay/client";
import { McpServer } from "@patchbay/server";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

const server = new McpServer({ name: "typed", version: "1" })
  .tool(
    "add",
    { input: z.object({ a: z.number(), b: z.number().default(1) }), output: z.object({ sum: z.number() }) },
    ({ a, b }) => ({ sum: a + b }),
  )
  .tool("now", {}, () => "12:00");

test("a server in this process tells its tools by its type", async () => {
  const client = await connect(server);
  const { structuredContent } = await client.callTool("add", { a: 2 });
  expectTypeOf(structuredContent).toEqualTypeOf<{ sum: number } | undefined>();
  expect(structuredContent?.sum).toBe(3);
  expect((await client.callTool("now")).content).toEqual([{ type: "text", text: "12:00" }]);
  // @ts-expect-error: there is no such tool
  await expect(client.callTool("sub", { a: 2 })).rejects.toThrow(/Unknown tool/);
  // @ts-expect-error: "a" is a number
  expect((await client.callTool("add", { a: "2" })).isError).toBe(true);
  await client.close();
});

test("a type may be named, or left out", () => {
  type Named = Awaited<ReturnType<typeof connect<typeof server>>>;
  expectTypeOf<Parameters<Named["callTool"]>[0]>().toEqualTypeOf<"add" | "now">();
  expectTypeOf<Parameters<Client["callTool"]>[0]>().toEqualTypeOf<string>();
  expectTypeOf<Awaited<ReturnType<Client["callTool"]>>["structuredContent"]>().toEqualTypeOf<unknown>();
});
