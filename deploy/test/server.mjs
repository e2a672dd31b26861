/** What the instances behind a balancer serve: everything, and a few tools that tell what happens where. */

import { appendFileSync } from "node:fs";
import { createEverything } from "@patchbay/servers/everything";
import { hang, tell, told } from "../../interop/servers/happenings.mjs";

const TEXT = { type: "string" };
const WHOLE = { type: "integer" };
const taking = (properties) => ({ type: "object", properties, required: Object.keys(properties) });

export const server = createEverything();

server
  .tool("where", { description: "Tells which instance this is", annotations: { readOnlyHint: true } }, () =>
    String(process.pid),
  )
  .tool(
    "count",
    {
      description: "Waits, after each step, until that one was heard of",
      input: taking({ to: WHOLE, key: TEXT }),
    },
    async ({ to, key }, ctx) => {
      for (let step = 1; step <= to; step++) {
        ctx.progress(step, to);
        await told(`${key} ${step}`);
      }
      return `counted to ${to}`;
    },
  )
  .tool("heard", { input: taking({ key: TEXT, step: WHOLE }) }, ({ key, step }) => tell(`${key} ${step}`))
  .tool("hang", { input: taking({ key: TEXT }) }, async ({ key }, ctx) => {
    ctx.progress(1);
    await hang(key, ctx.signal);
  })
  .tool("stopped", { input: taking({ key: TEXT }) }, async ({ key }) => {
    await told(key);
    return "stopped";
  })
  .tool(
    "die",
    { description: "Ends its instance, and says so in a file", input: taking({ file: TEXT }) },
    ({ file }) => {
      appendFileSync(file, "died\n");
      process.kill(process.pid, "SIGKILL");
    },
  )
  .tool("touch", { description: "Says that a resource has changed" }, () => {
    server.resourceUpdated("test://watched-resource");
  });
