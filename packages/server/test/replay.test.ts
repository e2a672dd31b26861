/** A request's state that comes again: taken up again by default, and once where a tool wants that (basic/patterns/mrtr). */

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { McpServer, type McpServerOptions, memoryUsedStates, type UsedStates } from "../src/index.ts";
import { type Json, WIRES } from "./wire.ts";

const SECRETS = ["a secret that is shared by all instances"];

function shop(options: McpServerOptions = {}) {
  const done: string[] = [];
  const server = new McpServer({ name: "shop", version: "1" }, { stateSecrets: SECRETS, ...options });
  for (const [name, once] of [
    ["redeem", true],
    ["look", false],
  ] as const) {
    server.tool(name, { once }, async (_args, ctx) => {
      for (const question of ["Really?", "Really really?"]) await ctx.elicit(question, z.object({}));
      done.push(name);
      return "done";
    });
  }
  return { server, done };
}

const MODERN = WIRES.filter(([name]) => name.endsWith("2026-07-28"));
const [, open] = MODERN.find(([name]) => name.startsWith("memory")) as (typeof WIRES)[number];

/** Calls a tool, and gives what answers its first question. */
async function asked(wire: Awaited<ReturnType<typeof open>>, name: string): Promise<Json> {
  const { result } = await wire.request("tools/call", { name });
  return accepting(name, result);
}

function accepting(name: string, { requestState, inputRequests }: Json): Json {
  const answers = Object.keys(inputRequests).map((key) => [key, { action: "accept", content: {} }]);
  return { name, requestState, inputResponses: Object.fromEntries(answers) };
}

describe.each(MODERN)("%s", (_name, openWire) => {
  test("a state is taken up again, for a client that lost the answer", async () => {
    const { server, done } = shop();
    const wire = await openWire(server);
    const first = await asked(wire, "look");
    const second = accepting("look", (await wire.request("tools/call", first)).result);
    await wire.request("tools/call", first);
    for (let n = 0; n < 2; n++)
      expect((await wire.request("tools/call", second)).result.content[0].text).toBe("done");
    expect(done).toEqual(["look", "look"]);
    await wire.close();
  });

  test("a tool that goes on once takes each state up once, even from two at the same time", async () => {
    const { server, done } = shop();
    const wire = await openWire(server);
    const first = await asked(wire, "redeem");
    const answers = await Promise.all([1, 2, 3].map(() => wire.request("tools/call", first)));
    const taken = answers.filter(({ result }) => result !== undefined);
    expect(taken).toHaveLength(1);
    for (const { error } of answers.filter((answer) => answer.error !== undefined)) {
      expect(error).toMatchObject({ code: -32602, data: { reason: "used" } });
      expect(error.message).toMatch(/goes on only once; send the request anew/);
    }
    const second = accepting("redeem", taken[0]?.result);
    expect((await wire.request("tools/call", second)).result.content[0].text).toBe("done");
    expect((await wire.request("tools/call", second)).error.data.reason).toBe("used");
    expect(done).toEqual(["redeem"]);
    await wire.close();
  });

  test("a state that is refused for something else is not used up", async () => {
    const { server } = shop();
    const wire = await openWire(server);
    const first = await asked(wire, "redeem");
    expect((await wire.request("tools/call", { ...first, arguments: { a: 1 } })).error.data.reason).toBe(
      "foreign",
    );
    expect((await wire.request("tools/call", first)).result.resultType).toBe("input_required");
    await wire.close();
  });
});

test("instances that share what was used hold to it together; the id says nothing of the state", async () => {
  const shared = memoryUsedStates();
  const ids: string[] = [];
  const usedStates: UsedStates = {
    use: async (id, until) => {
      ids.push(id);
      expect(until).toBeGreaterThan(Date.now());
      return shared.use(id, until);
    },
  };
  const [one, other] = [await open(shop({ usedStates }).server), await open(shop({ usedStates }).server)];
  const first = await asked(one, "redeem");
  expect((await other.request("tools/call", first)).result.resultType).toBe("input_required");
  expect((await one.request("tools/call", first)).error.data.reason).toBe("used");
  expect(ids[0]).toBe(ids[1]);
  expect(first.requestState).not.toContain(ids[0]);
  await Promise.all([one.close(), other.close()]);
});

test("what was used is remembered until it expires, and so much of it", async () => {
  const states = memoryUsedStates(2);
  const now = Date.now();
  expect(states.use("gone", now - 1)).toBe(true);
  expect(states.use("a", now + 60_000)).toBe(true);
  expect(states.use("a", now + 60_000)).toBe(false);
  expect(states.use("b", now + 60_000)).toBe(true);
  expect(() => states.use("c", now + 60_000)).toThrow(/maxUsedStates allows \(2\)/);
  const { server } = shop({ usedStates: memoryUsedStates(0) });
  const wire = await open(server);
  const { error } = await wire.request("tools/call", await asked(wire, "redeem"));
  expect(error).toMatchObject({ code: -32600, data: { limit: "maxUsedStates", value: 0 } });
  await wire.close();
});
