/** A client that starts a server, lists what it offers, and uses it. */
// @ts-check

import { fileURLToPath } from "node:url";
import { connect } from "@patchbay/client";

const script = fileURLToPath(new URL("weather-server.mjs", import.meta.url));
const client = await connect({ command: process.execPath, args: [script] });

console.log(`${client.server?.name}, in revision ${client.revision}`);
for (const tool of await client.listTools()) console.log(`- ${tool.name}: ${tool.description}`);

const rome = await client.callTool("get_weather", { city: "Rome" });
console.log(rome.structuredContent);

// A tool that ran and failed is a result, for a model to read.
const atlantis = await client.callTool("get_weather", { city: "Atlantis" });
console.log(atlantis.isError, atlantis.content);

const { contents } = await client.readResource("weather://Oslo");
console.log(contents);

await client.close(); // and the server's process is gone
