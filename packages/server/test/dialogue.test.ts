/** A handler that asks its client is written once, and works over every transport and revision. */

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { McpServer } from "../src/index.ts";
import { type Json, WIRES, type Wire } from "./wire.ts";

let charged = 0;
let unwound = 0;
let wandering = 0;

const server = new McpServer({ name: "asks", version: "1" }, { onError: () => {} })
  .tool("book", { input: z.object({ seats: z.number() }) }, async ({ seats }, ctx) => {
    const sure = await ctx.elicit(
      `Book ${seats}?`,
      z.object({ sure: z.boolean(), note: z.string().optional() }),
      { key: "sure" },
    );
    if (sure.action !== "accept") return `not booked: ${sure.action}`;
    const receipt = await ctx.step("charge", () => `receipt ${++charged}`);
    const seat = await ctx.elicit("Window or aisle?", z.object({ seat: z.enum(["window", "aisle"]) }));
    return `${sure.content.sure} ${receipt} ${seat.action === "accept" && seat.content.seat}`;
  })
  .tool("together", {}, async (_args, ctx) => {
    const [color, poem, roots] = await Promise.all([
      ctx.elicit("Color?", z.object({ color: z.string() })),
      ctx.sample({ messages: [{ role: "user", content: { type: "text", text: "A poem" } }], maxTokens: 10 }),
      ctx.roots(),
    ]);
    const text = Array.isArray(poem.content) ? poem.content : [poem.content];
    return JSON.stringify([color, text, roots]);
  })
  .tool("unwinds", {}, async (_args, ctx) => {
    try {
      await ctx.elicit("Go?", z.object({ go: z.boolean() }));
      return "went";
    } catch (error) {
      if ((error as Error).name === "SuspendedError") {
        ctx.progress(1);
        await ctx.elicit("Too late?", z.object({ late: z.boolean() })).catch(() => {});
        return "ignored";
      }
      throw error;
    } finally {
      unwound++;
    }
  })
  .tool("wanders", {}, async (_args, ctx) => {
    await ctx.elicit(`Question ${++wandering}`, z.object({ a: z.string() }));
    return "never";
  })
  .tool(
    "visits",
    {},
    async (_args, ctx) => (await ctx.elicit("Sign in", new URL("https://example.com/in"))).action,
  )
  .tool("patterns", {}, async (_args, ctx) => {
    const fields = { mail: z.email(), code: z.string().regex(/^\d+$/), kind: z.literal("only") };
    return (await ctx.elicit("Code?", z.object(fields))).action;
  })
  .tool("nests", {}, async (_args, ctx) => {
    await ctx.elicit("Nest", z.object({ deep: z.object({ er: z.string() }) }));
    return "never";
  })
  .resource("test://asked", { name: "asked" }, async (_uri, ctx) =>
    JSON.stringify(await ctx.elicit("Read?", z.object({ ok: z.boolean() }))),
  )
  .prompt("asked", {}, async (_args, ctx) =>
    JSON.stringify(await ctx.elicit("Get?", z.object({ ok: z.boolean() }))),
  );

const ACCEPT = (content: Json) => ({ action: "accept", content });

describe.each(WIRES)("%s", (_name, open) => {
  let wire: Wire;
  const call = (name: string, args: Json = {}) => wire.converse("tools/call", { name, arguments: args });
  const textOf = ({ result }: Json): string => result.content[0].text;
  /** What an older revision cannot ask is an error that names it. */
  const since = (revision: string, response: Json) => {
    if (wire.revision >= revision) return false;
    expect(response.error.message).toContain("Missing client capability");
    return true;
  };

  beforeEach(async () => {
    charged = 0;
    unwound = 0;
    wandering = 0;
    wire = await open(server);
  });
  afterEach(() => wire.close());

  test("questions one after the other, and a step that happens once", async () => {
    const asked: Json[] = [];
    wire.onAsked = (request) => {
      asked.push(request);
      return request.params.message === "Book 2?" ? ACCEPT({ sure: true }) : ACCEPT({ seat: "aisle" });
    };
    const response = await call("book", { seats: 2 });
    if (since("2025-06-18", response)) return;
    expect(textOf(response)).toBe("true receipt 1 aisle");
    expect(charged).toBe(1);
    expect(wire.rounds).toBe(wire.era === "modern" ? 3 : 1);
    expect(asked.map(({ method }) => method)).toEqual(["elicitation/create", "elicitation/create"]);
    expect(asked[0]?.params.requestedSchema).toEqual({
      type: "object",
      properties: { sure: { type: "boolean" }, note: { type: "string" } },
      required: ["sure"],
    });
    expect("mode" in (asked[0] as Json).params).toBe(wire.era === "modern");
  });

  test("decline and cancel are answers", async () => {
    for (const action of ["decline", "cancel"]) {
      wire.onAsked = () => ({ action });
      const response = await call("book", { seats: 1 });
      if (since("2025-06-18", response)) return;
      expect(textOf(response)).toBe(`not booked: ${action}`);
    }
  });

  test("an answer that does not fit is refused", async () => {
    for (const answer of [ACCEPT({ sure: "very" }), ACCEPT({}), { action: "maybe" }, {}]) {
      wire.onAsked = () => answer;
      const response = await call("book", { seats: 1 });
      if (since("2025-06-18", response)) return;
      expect(response.error).toMatchObject({ code: -32602, message: expect.stringContaining("not valid") });
    }
  });

  test("several at once go out together", async () => {
    wire.onAsked = ({ method }) => {
      if (method === "elicitation/create") return ACCEPT({ color: "red" });
      if (method === "roots/list") return { roots: [{ uri: "file:///home" }] };
      return { role: "assistant", content: { type: "text", text: "Roses" }, model: "m" };
    };
    const response = await call("together");
    if (since("2025-06-18", response)) return;
    expect(JSON.parse(textOf(response))).toEqual([
      ACCEPT({ color: "red" }),
      [{ type: "text", text: "Roses" }],
      [{ uri: "file:///home" }],
    ]);
    expect(wire.rounds).toBe(wire.era === "modern" ? 2 : 1);
  });

  test("a suspended handler unwinds, and what it does then is ignored", async () => {
    wire.onAsked = () => ACCEPT({ go: true });
    const response = await call("unwinds");
    if (since("2025-06-18", response)) return;
    expect(textOf(response)).toBe("went");
    expect(unwound).toBe(wire.era === "modern" ? 2 : 1);
    expect(wire.notifications).toEqual([]);
  });

  test("a page to visit", async () => {
    let params: Json = {};
    wire.onAsked = (request) => {
      params = request.params;
      return { action: "accept" };
    };
    const response = await call("visits");
    if (since("2025-11-25", response)) return;
    expect(textOf(response)).toBe("accept");
    expect(params).toMatchObject({ mode: "url", url: "https://example.com/in", message: "Sign in" });
    expect("elicitationId" in params).toBe(wire.era === "legacy");
  });

  test("a form says of its fields what a form may say, and the rest is checked in the answer", async () => {
    let params: Json = {};
    wire.onAsked = (request) => {
      params = request.params;
      return { action: "accept", content: { mail: "x@y.example", code: "wrong", kind: "only" } };
    };
    const response = await call("patterns");
    if (since("2025-06-18", response)) return;
    expect(params.requestedSchema.properties).toEqual({
      mail: { type: "string", format: "email" },
      code: { type: "string" },
      kind: { type: "string", enum: ["only"] },
    });
    expect(response.error.message).toMatch(/code/);
  });

  test("a form is flat", async () => {
    const response = await call("nests");
    expect(response.result).toMatchObject({ isError: true });
    expect(textOf(response)).toContain('"deep"');
  });

  test("resources and prompts may ask too", async () => {
    wire.onAsked = () => ACCEPT({ ok: true });
    const read = await wire.converse("resources/read", { uri: "test://asked" });
    if (since("2025-06-18", read)) return;
    expect(JSON.parse(read.result.contents[0].text)).toEqual(ACCEPT({ ok: true }));
    const got = await wire.converse("prompts/get", { name: "asked" });
    expect(JSON.parse(got.result.messages[0].content.text)).toEqual(ACCEPT({ ok: true }));
  });

  test("a client that cannot be asked is told what it lacks", async () => {
    if (wire.era !== "modern") return;
    const _meta = { "io.modelcontextprotocol/clientCapabilities": {} };
    const { error } = await wire.request("tools/call", { name: "book", arguments: { seats: 1 }, _meta });
    expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: {} } } });
  });
});

describe("requestState", () => {
  const openModern = (WIRES.find(([name]) => name === "memory, 2026-07-28") as (typeof WIRES)[0])[1];
  const book = { name: "book", arguments: { seats: 2 } };
  const inputResponses = { sure: ACCEPT({ sure: true }) };

  async function suspended(wire: Wire, params: Json = book): Promise<string> {
    const { result } = await wire.request("tools/call", params);
    expect(result.resultType).toBe("input_required");
    return result.requestState;
  }

  test("keys are the handler's own, and an answer that is missing is asked for again", async () => {
    const wire = await openModern(server);
    const { result } = await wire.request("tools/call", book);
    expect(Object.keys(result.inputRequests)).toEqual(["sure"]);
    const again = await wire.request("tools/call", {
      ...book,
      requestState: result.requestState,
      inputResponses: { unknown: ACCEPT({}) },
    });
    expect(again.result.inputRequests).toEqual(result.inputRequests);
    await wire.close();
  });

  test("is not needed by a request that brings its answers; those that nobody asked for are passed over", async () => {
    const wire = await openModern(server);
    const early = { ...book, inputResponses: { ...inputResponses, unknown: ACCEPT({}) } };
    const { result } = await wire.request("tools/call", early);
    expect(Object.keys(result.inputRequests)).toEqual(["2"]);
    const all = { ...inputResponses, 2: ACCEPT({ seat: "aisle" }) };
    const done = await wire.request("tools/call", { ...book, inputResponses: all });
    expect(done.result.content[0].text).toMatch(/^true receipt \d+ aisle$/);
    for (const wrong of [null, 5, { sure: 12345 }]) {
      const { error } = await wire.request("tools/call", { ...book, inputResponses: wrong });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("must be an object") });
    }
    await wire.close();
  });

  test("is worth nothing when changed, foreign or expired", async () => {
    const wire = await openModern(server);
    const state = await suspended(wire);
    const flipped = state.slice(0, 20) + (state[20] === "A" ? "B" : "A") + state.slice(21);
    for (const requestState of [
      flipped,
      `${state}x`,
      state.slice(0, -1),
      "",
      "💥",
      5,
      {},
      "x".repeat(100_000),
    ]) {
      const { error } = await wire.request("tools/call", { ...book, requestState, inputResponses });
      expect([error.code, ["tampered", "unreadable"].includes(error.data.reason)]).toEqual([-32602, true]);
    }
    for (const params of [
      { ...book, arguments: { seats: 3 } },
      { ...book, name: "wanders" },
    ]) {
      const { error } = await wire.request("tools/call", { ...params, requestState: state, inputResponses });
      expect(error).toMatchObject({ code: -32602, data: { reason: "foreign" } });
    }
    const reordered = { requestState: state, arguments: { seats: 2 }, inputResponses, name: "book" };
    expect((await wire.request("tools/call", reordered)).result.resultType).toBe("input_required");
    await wire.close();

    const brief = new McpServer({ name: "brief", version: "1" }, { resumption: { stateTtl: -1 } });
    brief.tool("book", {}, async (_args, ctx) => JSON.stringify(await ctx.elicit("?", z.object({}))));
    const late = await openModern(brief);
    const gone = await suspended(late, { name: "book" });
    const { error } = await late.request("tools/call", {
      name: "book",
      requestState: gone,
      inputResponses: {},
    });
    expect(error).toMatchObject({ code: -32602, data: { reason: "expired" } });
    await late.close();
  });

  test("is taken up by another instance with the same secrets, old ones too", async () => {
    const make = (stateSecrets: string[]) =>
      new McpServer({ name: "many", version: "1" }, { stateSecrets }).tool("ask", {}, async (_args, ctx) =>
        JSON.stringify(await ctx.elicit("?", z.object({ a: z.string() }))),
      );
    const [old, fresh] = ["o".repeat(32), "n".repeat(32)];
    const first = await openModern(make([old]));
    const requestState = await suspended(first, { name: "ask" });
    const retry = { name: "ask", requestState, inputResponses: { 1: ACCEPT({ a: "b" }) } };
    const second = await openModern(make([fresh, old]));
    expect(JSON.parse((await second.request("tools/call", retry)).result.content[0].text)).toEqual(
      ACCEPT({ a: "b" }),
    );
    const third = await openModern(make([fresh]));
    expect((await third.request("tools/call", retry)).error.data.reason).toBe("tampered");
    expect(() => make(["short"])).toThrow(/32 characters/);
    await Promise.all([first.close(), second.close(), third.close()]);
  });

  test("a question that is another one the second time is the server's fault, and says so", async () => {
    wandering = 0;
    const wire = await openModern(server);
    const requestState = await suspended(wire, { name: "wanders" });
    const { error } = await wire.request("tools/call", {
      name: "wanders",
      requestState,
      inputResponses: { 1: ACCEPT({ a: "x" }) },
    });
    expect(error).toMatchObject({ code: -32603, message: expect.stringContaining("question 1") });
    await wire.close();
  });

  test("questions and state are capped", async () => {
    const greedy = new McpServer(
      { name: "greedy", version: "1" },
      { resumption: { maxQuestions: 2, maxStateBytes: 2000 } },
    )
      .tool("many", {}, async (_args, ctx) => {
        await Promise.all([1, 2, 3].map((n) => ctx.elicit(`${n}`, z.object({}))));
        return "";
      })
      .tool("big", {}, async (_args, ctx) => {
        await ctx.step("big", () => "x".repeat(3000));
        await ctx.elicit("?", z.object({}));
        return "";
      });
    const wire = await openModern(greedy);
    expect((await wire.request("tools/call", { name: "many" })).error.data).toEqual({
      limit: "maxQuestions",
      value: 2,
    });
    expect((await wire.request("tools/call", { name: "big" })).error.data).toEqual({
      limit: "maxStateBytes",
      value: 2000,
    });
    await wire.close();
  });
});

test("a legacy client that never answers is not waited for forever, nor one that has gone", async () => {
  const { channelPair } = await import("@patchbay/core");
  const { serveChannel } = await import("../src/transports/channel.ts");
  const [client, served] = channelPair();
  serveChannel(server, served, { answerTimeout: 1 });
  const received: Json[] = [];
  const done = new Promise<void>((resolve) => {
    client.listen(
      (text) => {
        received.push(JSON.parse(text));
        if (received.at(-1)?.id === 2 && received.at(-1)?.method === undefined) resolve();
      },
      () => {},
    );
  });
  const { INITIALIZE } = await import("./wire.ts");
  client.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE }));
  client.send(
    JSON.stringify({
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: { name: "book", arguments: { seats: 1 } },
    }),
  );
  await done;
  expect(received.map(({ method, id }) => method ?? id)).toEqual([
    1,
    "elicitation/create",
    "notifications/cancelled",
    2,
  ]);
  expect(received.at(-1)?.result.content[0].text).toContain("answerTimeout");
  await client.close();
});
