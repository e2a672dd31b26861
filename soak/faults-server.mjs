/** What the instances of a fault run serve: an answer, an effect that may happen once, and steps to be told of. */

import { appendFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { McpServer } from "@patchbay/server";

const TEXT = { type: "string" };
const taking = (properties) => ({ type: "object", properties, required: Object.keys(properties) });

/** Outlives every instance: a line for each effect. */
const effects = process.env.SOAK_EFFECTS;

export const server = new McpServer({ name: "faults", version: "1.0.0" });

server
  .tool(
    "echo",
    { input: taking({ message: TEXT }), annotations: { readOnlyHint: true } },
    ({ message }) => message,
  )
  .tool("charge", { input: taking({ key: TEXT }) }, async ({ key }, ctx) => {
    await ctx.step("charge", () => appendFile(effects, `${key}\n`));
    const { action, content } = await ctx.elicit(`Keep ${key}?`, taking({ word: TEXT }));
    return `${key} ${action} ${content?.word}`;
  })
  .tool("steps", { annotations: { readOnlyHint: true } }, async (_, ctx) => {
    for (let step = 1; step <= 3; step++) {
      ctx.progress(step, 3);
      await delay(30, undefined, { signal: ctx.signal });
    }
    return "stepped";
  });
