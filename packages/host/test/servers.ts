/** MCP servers that the tests ask through a host, in memory. */

import { type Client, connect } from "@patchbay/client";
import { McpServer } from "@patchbay/server";

const text = { type: "string" } as const;
const number = { type: "number" } as const;
/** What such a tool gives comes from nowhere else. */
const annotations = { openWorldHint: false } as const;

/** Something that a test can wait for. */
function signalled() {
  let resolve!: () => void;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** `calculator(expression)`, which only knows one expression, and `add(a, b)`. */
export function calculator(): McpServer {
  const server = new McpServer(
    { name: "calculator", version: "1.0.0" },
    { instructions: "Use it for sums." },
  );
  server.tool(
    "calculator",
    {
      description: "Works out an arithmetic expression.",
      annotations,
      input: { type: "object", properties: { expression: text }, required: ["expression"] },
    },
    ({ expression }) => {
      if (expression === "564*34+12.4/455**2") return "19176.00005989615";
      throw new Error(`Error: cannot work out ${expression}`);
    },
  );
  server.tool(
    "add",
    {
      title: "Addition",
      description: "Adds two numbers.",
      annotations,
      input: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
    },
    async ({ a, b }, ctx) => {
      ctx.progress(1, 2, "adding");
      return String(Number(a) + Number(b));
    },
  );
  return server;
}

/** `get_weather(city, days?)`. */
export function weather(): McpServer {
  const server = new McpServer({ name: "weather", version: "1.0.0" });
  server.tool(
    "get_weather",
    {
      description: "The weather in a city. Temperatures are in degrees Celsius.",
      annotations,
      input: {
        type: "object",
        properties: { city: text, days: { type: "integer" }, units: { enum: ["metric", "imperial"] } },
        required: ["city"],
      },
    },
    ({ city, days }) => `${city}: clear, 23 °C${days === undefined ? "" : `, for ${days} days`}`,
  );
  return server;
}

/** A server of one tool that gives a whole result. */
export function returning(result: unknown, name = "give"): McpServer {
  const server = new McpServer({ name: "giver", version: "1.0.0" });
  const input = { type: "object", properties: {} } as const;
  server.tool(name, { description: "Gives something.", annotations, input }, () => result as never);
  return server;
}

/** A server whose tool `wait` never answers; it tells when it was called and when it was cancelled. */
export function hanging() {
  const called = signalled();
  const cancelled = signalled();
  const server = new McpServer({ name: "hanging", version: "1.0.0" });
  server.tool("wait", { input: { type: "object", properties: {} } }, (_, { signal }) => {
    signal.addEventListener("abort", () => cancelled.resolve());
    called.resolve();
    return new Promise<never>(() => {});
  });
  return { server, called: called.promise, cancelled: cancelled.promise };
}

/** Connects to all of them, by name. */
export async function connectAll(servers: Record<string, McpServer>): Promise<Record<string, Client>> {
  const clients = Object.entries(servers).map(
    async ([name, server]) => [name, await connect(server)] as const,
  );
  return Object.fromEntries(await Promise.all(clients));
}
