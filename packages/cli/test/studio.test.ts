/** What LangGraph Studio opens: the entry of langgraph.json, and the graph that it gives. */

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, vi } from "vitest";
import { script } from "./patchbay.ts";
import { workplace } from "./workplace.ts";

// Each test starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

const ROOT = resolve(import.meta.dirname, "../../..");
const place = workplace();

it("langgraph.json names the graph host_agent, and its module exports it", async () => {
  const { graphs } = JSON.parse(readFileSync(join(ROOT, "langgraph.json"), "utf8"));
  const [path, symbol] = graphs.host_agent.split(":");
  const module = await import(pathToFileURL(join(ROOT, path)).href);
  expect(typeof module[symbol]).toBe("function");
});

it("the graph answers with the servers' tools", async () => {
  const studio = pathToFileURL(join(ROOT, "packages/cli/dist/studio.js")).href;
  const { code, stdout } = await script(
    `import { hostAgent } from ${JSON.stringify(studio)};
    const graph = await hostAgent();
    const ask = async (content) => (await graph.invoke({ messages: [{ role: "user", content }] })).messages;
    const told = (await ask("6*7")).map((message) => message.type + ": " + message.text);
    console.log(JSON.stringify({ name: graph.name, told }));
    process.exit(0);`,
    { cwd: place.cwd },
  );
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    name: "host_agent",
    told: ["human: 6*7", "ai: ", "tool: 42", "ai: 42"],
  });
});
