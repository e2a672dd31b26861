/** A tool that asks the user while it works: one handler, for clients of both eras. */
// @ts-check

import { connect } from "@patchbay/client";
import { McpServer } from "@patchbay/server";
import { z } from "zod";

const server = new McpServer({ name: "theatre", version: "1.0.0" });
let lastOrder = 0;

server.tool("book", { input: z.object({ seats: z.int() }) }, async ({ seats }, ctx) => {
  // A modern client has the handler run again for each answer: what must happen once is a step.
  const order = await ctx.step("order", () => ++lastOrder);
  const [name, sure] = await Promise.all([
    ctx.elicit("For whom?", z.object({ name: z.string().min(1) }), { key: "name" }),
    ctx.elicit(`Book ${seats} seats for ${seats * 20} €?`, z.object({ yes: z.boolean() }), { key: "sure" }),
  ]);
  if (name.action !== "accept" || sure.action !== "accept" || !sure.content.yes) return "Nothing was booked";
  return `Order ${order}: ${seats} seats for ${name.content.name}`;
});

/** What our user says. @type {Record<string, Record<string, string | boolean>>} */
const ANSWERS = { "For whom?": { name: "Ada" }, "Book 2 seats for 40 €?": { yes: true } };

for (const era of /** @type {const} */ (["legacy", "modern"])) {
  const client = await connect(server, {
    era,
    // An application shows the form to its user.
    onElicit: ({ message }) => {
      console.log(`${era}: ${message}`);
      return { action: "accept", content: ANSWERS[message] ?? {} };
    },
  });
  console.log((await client.callTool("book", { seats: 2 })).content);
  await client.close();
}
