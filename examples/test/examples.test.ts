/** Every example runs: the programs by the blocks of README.md, which the documents' tests execute, the servers here. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { connect } from "@patchbay/client";
import { afterEach, expect, test } from "vitest";
import { readBlocks } from "../../docs/test/markdown.ts";

const FOLDER = join(import.meta.dirname, "..");
const SERVERS = ["own-http-server.mjs", "weather-server.mjs"];

let server: ChildProcess | undefined;

afterEach(() => {
  server?.kill("SIGKILL");
  server = undefined;
});

/** Starts an example that listens, and gives its port. */
async function listen(example: string): Promise<string> {
  server = spawn(process.execPath, [join(FOLDER, example), "0"], { stdio: ["ignore", "ignore", "pipe"] });
  for await (const line of createInterface({ input: server.stderr as Readable })) {
    const port = /127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port !== undefined) return port;
  }
  throw new Error(`${example} ended without saying where it listens`);
}

/** Ctrl-C, and how it ended. */
async function interrupt(): Promise<number> {
  const ended = once(server as ChildProcess, "exit");
  server?.kill("SIGINT");
  const [code] = await ended;
  return code;
}

test("each program is run by a block of README.md", () => {
  const blocks = readBlocks("examples/README.md", readFileSync(join(FOLDER, "README.md"), "utf8"));
  const run = blocks.filter((block) => block.run).map((block) => block.text);
  const programs = readdirSync(FOLDER).filter((file) => file.endsWith(".mjs"));
  for (const program of programs) {
    expect(
      [...run, ...SERVERS].some((text) => text.includes(program)),
      program,
    ).toBe(true);
  }
  expect(run.some((text) => text.includes("--config examples/mcp.json"))).toBe(true);
});

test("weather-server.mjs is served over HTTP, and Ctrl-C ends it", async () => {
  const client = await connect(`http://127.0.0.1:${await listen("weather-server.mjs")}/mcp`);
  const { structuredContent } = await client.callTool("get_weather", { city: "Oslo" });
  const ref = { type: "ref/prompt" as const, name: "pack" };
  const { completion } = await client.complete({ ref, argument: { name: "city", value: "B" } });
  await client.close();
  expect(structuredContent).toEqual({ city: "Oslo", celsius: 14 });
  expect(completion.values).toEqual(["Beijing"]);
  expect(await interrupt()).toBe(0);
});

test("own-http-server.mjs serves its page and its MCP server, and Ctrl-C ends it", async () => {
  const origin = `http://127.0.0.1:${await listen("own-http-server.mjs")}`;
  const client = await connect(`${origin}/mcp`);
  const { content } = await client.callTool("write", { text: "Buy milk" });
  const { contents } = await client.readResource("notes://all");
  await client.close();
  expect(content).toEqual([{ type: "text", text: "1 notes" }]);
  expect(contents).toEqual([{ uri: "notes://all", mimeType: "text/plain", text: "Buy milk" }]);
  const page = await fetch(origin, { headers: { connection: "close" } });
  expect(await page.text()).toBe("1 notes so far\n");
  expect(await interrupt()).toBe(0);
});
