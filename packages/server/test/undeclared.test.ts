/** What a client did not declare is not asked of it: no part of a capability neither (2026-07-28, basic § _meta). */

import { META } from "@patchbay/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Context, McpServer } from "../src/index.ts";
import { WIRES } from "./wire.ts";

const modern = WIRES.filter(([name]) => name.endsWith("2026-07-28"));
const sampled = { messages: [], maxTokens: 1 };

const QUESTIONS: [string, object, (context: Context) => Promise<unknown>, object][] = [
  [
    "a page, of a client with forms",
    { elicitation: { form: {} } },
    (context) => context.elicit("Go there", new URL("https://example.com/")),
    { elicitation: { url: {} } },
  ],
  [
    "a form, of a client with pages",
    { elicitation: { url: {} } },
    (context) => context.elicit("Your name?", z.object({ name: z.string() })),
    { elicitation: { form: {} } },
  ],
  [
    "a model with tools, of a client whose model takes none",
    { sampling: {} },
    (context) => context.sample({ ...sampled, tools: [{ name: "add", inputSchema: { type: "object" } }] }),
    { sampling: { tools: {} } },
  ],
  ["a model", {}, (context) => context.sample(sampled), { sampling: {} }],
  ["roots", {}, (context) => context.roots(), { roots: {} }],
];

describe.each(modern)("over %s", (_transport, open) => {
  test.each(QUESTIONS)("is not asked for %s", async (_what, declared, ask, requiredCapabilities) => {
    const server = new McpServer({ name: "asking", version: "1" });
    server.tool("ask", {}, async (_, context) => {
      await ask(context);
      return "asked";
    });
    const wire = await open(server);
    const params = { name: "ask", arguments: {}, _meta: { [META.clientCapabilities]: declared } };
    expect((await wire.request("tools/call", params)).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities },
    });
    await wire.close();
  });
});
