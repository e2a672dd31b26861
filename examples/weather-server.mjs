/** A server with a tool, a resource and a prompt: over stdio, or over HTTP when it is given a port. */
// @ts-check

import { McpServer, ResourceNotFoundError } from "@patchbay/server";
import { serveHttp } from "@patchbay/server/http";
import { serveStdio } from "@patchbay/server/stdio";
import { z } from "zod";

const celsius = new Map([
  ["Beijing", 26],
  ["Oslo", 14],
  ["Rome", 31],
]);
/** @param {string} typed */
const startsWith = (typed) => [...celsius.keys()].filter((city) => city.startsWith(typed));

const server = new McpServer({ name: "weather", version: "1.0.0" });

server.tool(
  "get_weather",
  {
    description: "The weather in a city now",
    input: z.object({ city: z.string().describe('A city, such as "Oslo"') }),
    output: z.object({ city: z.string(), celsius: z.number() }),
    annotations: { readOnlyHint: true },
  },
  ({ city }) => {
    const now = celsius.get(city);
    if (now === undefined) throw new Error(`"${city}" has no weather; try ${[...celsius.keys()].join(", ")}`);
    return { city, celsius: now };
  },
);

server.resourceTemplate(
  "weather://{city}",
  { name: "weather", mimeType: "text/plain", complete: { city: startsWith } },
  (uri, { city = "" }) => {
    if (!celsius.has(city)) throw new ResourceNotFoundError(uri);
    return `${city}: ${celsius.get(city)} °C`;
  },
);

server.prompt(
  "pack",
  {
    description: "What to pack",
    arguments: [{ name: "city", required: true }],
    complete: { city: startsWith },
  },
  ({ city }) => `I am going to ${city} tomorrow. Look up the weather, and tell me what to pack.`,
);

const [, , port] = process.argv;
if (port === undefined) {
  await serveStdio(server);
} else {
  const running = await serveHttp(server, { port: Number(port) });
  console.error(`The weather is at ${running.url} (Ctrl-C ends it)`);
  process.once("SIGINT", () => running.close());
}
