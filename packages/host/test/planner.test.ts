/** The rule planner in the same loop, over MCP: exact forms run a tool, anything else is said to be none. */

import type { McpServer } from "@patchbay/server";
import { afterEach, describe, expect, it } from "vitest";
import { chooseModel, createHost, type Host, type HostEvent, RULE_PLANNER } from "../src/index.ts";
import { calculator, connectAll, hanging, returning, weather } from "./servers.ts";

const open: Host[] = [];
afterEach(async () => {
  for (const host of open.splice(0)) await host.close();
});

async function planning(servers: Record<string, McpServer>): Promise<Host> {
  const model = await chooseModel({ MODEL_PROVIDER: "rules" });
  const host = createHost({ clients: await connectAll(servers), model, onApproval: () => "session" });
  open.push(host);
  return host;
}

const both = () => planning({ calculator: calculator(), weather: weather() });

/** What the tool was called with, when it was. */
async function called(host: Host, question: string): Promise<unknown> {
  const events: HostEvent[] = [];
  await host.ask(question, { onEvent: (event) => events.push(event) });
  const start = events.find((event) => event.type === "tool_start");
  return start && { tool: start.tool, arguments: start.arguments };
}

describe("exact forms", () => {
  it("works out plain arithmetic with the calculator that is connected", async () => {
    const host = await both();
    const events: HostEvent[] = [];
    const answer = await host.ask("564*34+12.4/455**2", { onEvent: (event) => events.push(event) });
    expect(answer).toMatchObject({
      text: "19176.00005989615",
      ok: true,
      model: "rule planner (not an AI model)",
    });
    expect(events.map(({ type }) => type)).toEqual([
      "model_start",
      "model_end",
      "approval",
      "tool_start",
      "tool_end",
      "model_start",
      "text",
      "model_end",
      "answer",
    ]);
    expect(events[4]).toMatchObject({ server: "calculator", tool: "calculator", isError: false });
  });

  it.each([
    ["2 + 2", "2 + 2"],
    ["sqrt(16) * pi =", "sqrt(16) * pi"],
    ["(1e3 - 4) // 5 % 2 =?", "(1e3 - 4) // 5 % 2"],
    ["-3 ** 2", "-3 ** 2"],
  ])("takes %s for arithmetic", async (question, expression) => {
    expect(await called(await both(), question)).toEqual({ tool: "calculator", arguments: { expression } });
  });

  it.each([
    "42",
    "-42",
    "2026-07-28",
    "what is 2 + 2",
    "e",
    "process.exit(1)",
    "1+1; rm",
    "5 apples",
    `${"1".repeat(200)}+x`,
  ])("does not take %s for arithmetic", async (question) => {
    expect(await called(await both(), question)).toBeUndefined();
  });

  it("looks at no question that is very long, and points from long arguments to JSON", async () => {
    const host = await both();
    const spaces = " ".repeat(3_000_000);
    expect(await host.ask(`1${spaces}x`)).toMatchObject({
      ok: false,
      text: expect.stringMatching(/longer than 1000000/),
    });
    expect(await called(host, `1${spaces}x`)).toBeUndefined();
    // Each would take minutes if it were searched in squares.
    for (const question of [`1${" ".repeat(900_000)}x`, "a/".repeat(400_000)]) {
      expect(await called(host, question)).toBeUndefined();
    }
    const quotes = await host.ask(`add: "${'\\"'.repeat(400_000)}`);
    expect(quotes.text).toMatch(/^add: more than 10000 characters of arguments; write them as add \{json\}/);
  });

  it.each([
    ["add: 3 4", "add", { a: 3, b: 4 }],
    ["add: 3, 4.5", "add", { a: 3, b: 4.5 }],
    ["add: b=4 a=-3", "add", { a: -3, b: 4 }],
    ["add: 3 b=4", "add", { a: 3, b: 4 }],
    ['add {"a": 3, "b": 4}', "add", { a: 3, b: 4 }],
    ['add: {"a": 3, "b": 4}', "add", { a: 3, b: 4 }],
    ["get_weather: New York", "get_weather", { city: "New York" }],
    ['get_weather: "New York"', "get_weather", { city: "New York" }],
    [
      "get_weather: New York days=3 units=metric",
      "get_weather",
      { city: "New York", days: 3, units: "metric" },
    ],
    ["get_weather: city='New York'", "get_weather", { city: "New York" }],
    ["get_weather: it's x=1", "get_weather", { city: "it's x=1" }],
    ["get_weather: 007", "get_weather", { city: "007" }],
    ["weather/get_weather: 北京", "get_weather", { city: "北京" }],
    ["calculator: 564*34", "calculator", { expression: "564*34" }],
  ])("runs %s", async (question, tool, args) => {
    expect(await called(await both(), question)).toEqual({ tool, arguments: args });
  });

  it.each([
    ["add: 3", '"b" is missing (a, b)'],
    ["add: 1 2 3", "takes 2 arguments here, and got 3 (a, b)"],
    ["add: 3 x", '"b" takes a number, not "x"'],
    ["get_weather: Rome days=1.5", '"days" takes a whole number, not "1.5"'],
    ["get_weather: Rome units=kelvin", '"units" takes one of "metric", "imperial", not "kelvin"'],
    ["add {a: 1}", "is not JSON"],
    ["get_whether: Rome", 'Did you mean "get_weather"?'],
  ])("says what is wrong with %s, and runs nothing", async (question, message) => {
    const host = await both();
    expect(await called(host, question)).toBeUndefined();
    const answer = await host.ask(question);
    expect(answer.ok).toBe(false);
    expect(answer.text).toContain(message);
  });

  it("asks which is meant when several servers have the tool", async () => {
    const host = await planning({ one: weather(), two: weather() });
    expect((await host.ask("get_weather: Rome")).text).toContain(
      "say which by one/get_weather, two/get_weather",
    );
    expect(await called(host, "two/get_weather: Rome")).toEqual({
      tool: "get_weather",
      arguments: { city: "Rome" },
    });
    expect(await called(host, "two__get_weather: Rome")).toBeDefined();
  });
});

describe("anything else", () => {
  it("shows the likeliest tools, their arguments, and how to get a model", async () => {
    const host = await both();
    const answer = await host.ask("How is the weather in Paris?");
    expect(answer.ok).toBe(false);
    expect(answer.text).toContain(RULE_PLANNER);
    const shown = answer.text.split("\n").filter((line) => line.startsWith("  "));
    expect(shown[0]).toBe("  get_weather: city=… [days=…] [units=…]  The weather in a city.");
    expect(answer.text).toContain("OPENAI_API_KEY");
  });

  it("shows five of many", async () => {
    const server = calculator();
    for (let index = 0; index < 20; index++) {
      server.tool(
        `lamp_${index}`,
        { description: "Switches a lamp.", input: { type: "object", properties: {} } },
        () => "on",
      );
    }
    const host = await planning({ server });
    const { text } = await host.ask("switch the lamp on");
    expect(text.match(/^ {2}lamp_\d+:/gm)).toHaveLength(5);
  });

  it("says so when there are no tools", async () => {
    const host = await planning({});
    expect(await host.ask("1 + 1")).toMatchObject({
      ok: false,
      text: expect.stringContaining("has no tools"),
    });
  });
});

describe("in the loop", () => {
  it("shows a tool's error as one, and the conversation goes on", async () => {
    const conversation = (await both()).conversation();
    expect(await conversation.ask("1/0")).toMatchObject({ ok: false, text: "Error: cannot work out 1/0" });
    expect(await conversation.ask("add: 1 2")).toMatchObject({ ok: true, text: "3" });
  });

  it("answers with structured content when a tool gives nothing else", async () => {
    const host = await planning({ giver: returning({ content: [], structuredContent: { celsius: 23 } }) });
    expect(await host.ask("give:")).toMatchObject({ ok: true, text: '{"celsius":23}' });
  });

  it("answers with a tool's own text where there is some", async () => {
    const content = [{ type: "text", text: "23 °C" }];
    const host = await planning({ giver: returning({ content, structuredContent: { celsius: 23 } }) });
    expect(await host.ask("give:")).toMatchObject({ ok: true, text: "23 °C" });
  });

  it("cancels the call, and the server hears of it", async () => {
    const { server, called: wasCalled, cancelled } = hanging();
    const host = await planning({ hanging: server });
    const controller = new AbortController();
    const asked = host.ask("wait:", { signal: controller.signal });
    await wasCalled;
    controller.abort();
    await expect(asked).rejects.toMatchObject({ code: "cancelled" });
    await cancelled;
  });

  it("goes on without a server that is gone, and names it", async () => {
    const clients = await connectAll({ calculator: calculator(), weather: weather() });
    const model = await chooseModel({ MODEL_PROVIDER: "rules" });
    const host = createHost({ clients, model, rules: { allow: ["*"] } });
    open.push(host);
    await clients.weather?.close();
    const events: HostEvent[] = [];
    const answer = await host.ask("add: 1 2", { onEvent: (event) => events.push(event) });
    expect(answer.text).toBe("3");
    expect(events[0]).toMatchObject({
      type: "server_unavailable",
      server: "weather",
      reason: expect.any(String),
    });
  });

  it("offers what a server added since the last question", async () => {
    const server = calculator();
    const conversation = (await planning({ server })).conversation();
    expect((await conversation.ask("twice: 4")).ok).toBe(false);
    const input = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
    server.tool("twice", { input }, ({ n }) => String(2 * Number(n)));
    expect(await conversation.ask("twice: 4")).toMatchObject({ ok: true, text: "8" });
  });

  it("stops what is running when the host is closed, and takes no more", async () => {
    const { server, called: wasCalled, cancelled } = hanging();
    const host = await planning({ hanging: server });
    const asked = host.ask("wait:");
    const outcome = expect(asked).rejects.toMatchObject({ code: "closed" });
    await wasCalled;
    await host.close();
    await Promise.all([outcome, cancelled]);
    await expect(host.ask("wait:")).rejects.toMatchObject({ code: "closed" });
  });
});
