/** A process that has read a page ends when it has nothing else to do: a thread that waits for the next one holds nothing. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { send, startSite } from "./site.ts";

it("ends by itself, and prints nothing but what it was told to", async () => {
  const site = await startSite();
  site.answers.set("/", send("<p>read"));
  const program = `
    import { connect } from "@patchbay/client";
    import { createWeb } from "@patchbay/servers/web";
    const client = await connect(createWeb({ privateHosts: [${JSON.stringify(site.host)}] }));
    const { structuredContent } = await client.callTool("web_fetch", { url: ${JSON.stringify(site.url)} });
    await client.close();
    process.on("exit", () => console.log(structuredContent.markdown));
    // Before that, whatever is held would be let go in time.
    setTimeout(() => process.exit(9), 25_000).unref();`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  const [code] = await once(child, "close");
  await site.close();
  expect([code, printed.trim()]).toEqual([0, "read"]);
});
