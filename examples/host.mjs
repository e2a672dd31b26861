/** An agent: a LangGraph loop with a server of your own and one in a process of its own. */
// @ts-check

import { fileURLToPath } from "node:url";
import { connect } from "@patchbay/client";
import { chooseModel, createHost } from "@patchbay/host";
import { McpServer } from "@patchbay/server";
import { z } from "zod";

const shop = new McpServer({ name: "shop", version: "1.0.0" });
shop.tool(
  "umbrellas",
  {
    description: "How many umbrellas are left in a city's shop",
    input: z.object({ city: z.string() }),
    // What only reads need not be approved.
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  ({ city }) => `${city.length} umbrellas are left in ${city}`,
);

const script = fileURLToPath(new URL("weather-server.mjs", import.meta.url));
const [question = "umbrellas: Oslo"] = process.argv.slice(2);

const host = createHost({
  clients: {
    shop: await connect(shop),
    weather: await connect({ command: process.execPath, args: [script] }),
  },
  // The one whose key is set, else one on this machine, else the rule planner, which takes "tool: arguments".
  model: await chooseModel(process.env),
});
try {
  const { text, ok } = await host.ask(question, {
    onEvent: (event) => {
      if (event.type === "tool_start") console.error(`${event.server}: ${event.tool}`, event.arguments);
    },
  });
  console.log(text);
  if (!ok) process.exitCode = 1;
} finally {
  await host.close();
}
