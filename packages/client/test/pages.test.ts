/** Pages that the user of a 2025-11-25 server visits: when that is told, and calls that wait for it. */

import { type JsonObject, ProtocolError } from "@patchbay/core";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type ConnectOptions, connect } from "../src/index.ts";
import { type Asked, LEGACY, scripted } from "./scripted.ts";

const TEXT = { content: [{ type: "text", text: "done" }] };
const page = (elicitationId: string) => ({
  mode: "url",
  elicitationId,
  url: `https://bank.example/${elicitationId}`,
  message: "Sign in",
});
const refusal = (...ids: string[]) => ({
  code: -32042,
  message: "Visit first",
  data: { elicitations: ids.map(page) },
});
const COMPLETE = "notifications/elicitation/complete";
const accept = () => ({ action: "accept" as const });

afterEach(() => {
  vi.useRealTimers();
});

/** A server whose calls are answered one after the other as `answers` say. */
async function refusing(answers: ((asked: Asked) => JsonObject | undefined)[], options: ConnectOptions) {
  const calls: Asked[] = [];
  const server = scripted({
    ...LEGACY,
    ping: () => ({}),
    "tools/call": (asked) => answers[calls.push(asked) - 1]?.(asked) ?? TEXT,
  });
  return { client: await connect(server, options), calls };
}

const refuse =
  (...ids: string[]) =>
  () => {
    throw refusal(...ids);
  };

describe("that a page is completed", () => {
  test("is told of pages that the user was asked to visit, once, and of no others", async () => {
    const completed: string[] = [];
    const server = scripted({
      ...LEGACY,
      "tools/call": ({ ask, notify }) => {
        notify(COMPLETE, { elicitationId: "never asked" });
        ask("q", "elicitation/create", page("a"));
        return TEXT;
      },
      "tools/list": ({ notify }) => {
        for (const elicitationId of ["a", "a", "b", 1]) notify(COMPLETE, { elicitationId });
        notify(COMPLETE);
        return { tools: [] };
      },
    });
    const onElicitComplete = (id: string) => completed.push(id);
    const client = await connect(server, { onElicit: accept, onElicitComplete });
    await client.callTool("pay");
    await vi.waitFor(() => expect(server.received.map(({ id }) => id)).toContain("q"));
    await client.listTools();
    expect(completed).toEqual(["a"]);
  });

  test("is not told of a page that the user would not visit", async () => {
    const onElicitComplete = vi.fn();
    const server = scripted({
      ...LEGACY,
      "tools/call": ({ ask }) => {
        ask("q", "elicitation/create", page("a"));
        return TEXT;
      },
      "tools/list": ({ notify }) => {
        notify(COMPLETE, { elicitationId: "a" });
        return { tools: [] };
      },
    });
    const client = await connect(server, { onElicit: () => ({ action: "decline" }), onElicitComplete });
    await client.callTool("pay");
    await vi.waitFor(() => expect(server.received.map(({ id }) => id)).toContain("q"));
    await client.listTools();
    expect(onElicitComplete).not.toHaveBeenCalled();
  });
});

describe("a call that is refused until pages were visited", () => {
  test("has the user asked for each, and is sent again when all are completed", async () => {
    const onElicit = vi.fn(accept);
    const { client, calls } = await refusing([refuse("a", "b")], { onElicit });
    const calling = client.callTool("pay", { amount: 1 });
    await vi.waitFor(() => expect(onElicit).toHaveBeenCalledTimes(2));
    expect(onElicit.mock.calls.map(([params]: unknown[]) => params)).toEqual([page("a"), page("b")]);
    calls[0]?.notify(COMPLETE, { elicitationId: "a" });
    await client.ping();
    expect(calls).toHaveLength(1);
    calls[0]?.notify(COMPLETE, { elicitationId: "b" });
    expect(await calling).toEqual(TEXT);
    expect(calls.map(({ params }) => params)).toEqual(
      [1, 2].map(() => ({ name: "pay", arguments: { amount: 1 } })),
    );
  });

  test("is sent again at once where the page was completed while the user agreed", async () => {
    const completing = (asked: Asked) => {
      asked.notify(COMPLETE, { elicitationId: "x" });
      throw refusal("a");
    };
    const { client, calls } = await refusing([completing, refuse("b")], {
      onElicit: async () => {
        calls[0]?.notify(COMPLETE, { elicitationId: calls.length === 1 ? "a" : "b" });
        await client.ping();
        return { action: "accept" };
      },
    });
    expect(await client.callTool("pay")).toEqual(TEXT);
    expect(calls).toHaveLength(3);
  });

  test("is sent again now and then where nobody tells, and the user is asked once", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const onElicit = vi.fn(accept);
    const { client, calls } = await refusing([refuse("a"), refuse("a"), refuse("a")], { onElicit });
    const calling = client.callTool("pay");
    await vi.advanceTimersByTimeAsync(0);
    for (const [tries, pause] of [5_000, 10_000, 20_000].entries()) {
      expect(calls).toHaveLength(tries + 1);
      await vi.advanceTimersByTimeAsync(pause);
    }
    expect(await calling).toEqual(TEXT);
    expect(onElicit).toHaveBeenCalledOnce();
  });

  test("is not waited for longer than maxTimeout", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const answers = Array.from({ length: 100 }, () => refuse("a"));
    const { client } = await refusing(answers, { onElicit: accept, timeout: 100_000, maxTimeout: 200_000 });
    const calling = client.callTool("pay").catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(260_000);
    expect(await calling).toMatchObject({ code: -32042 });
  });

  test.each<[string, object, ConnectOptions]>([
    ["the user declines", refusal("a"), { onElicit: () => ({ action: "decline" }) }],
    ["nobody asks the user", refusal("a"), {}],
    ["only forms are filled in", refusal("a"), { onElicit: accept, elicitModes: ["form"] }],
    ["it names no page", refusal(), { onElicit: accept }],
    [
      "what it names is none",
      { ...refusal(), data: { elicitations: [{ mode: "form" }] } },
      { onElicit: accept },
    ],
    ["it names too many", refusal("a", "b", "c"), { onElicit: accept, maxQuestions: 2 }],
  ])("is refused where %s", async (_, error, options) => {
    const throwing = () => {
      throw error;
    };
    const { client, calls } = await refusing([throwing, throwing], options);
    const thrown = await client.callTool("pay").catch((caught: unknown) => caught);
    expect(thrown).toBeInstanceOf(ProtocolError);
    expect(thrown).toMatchObject({ code: -32042 });
    expect(calls).toHaveLength(1);
  });

  test("ends with the connection, or when the caller gives up", async () => {
    const onElicit = vi.fn(accept);
    const { client } = await refusing([refuse("a"), refuse("b")], { onElicit });
    const controller = new AbortController();
    const given = client.callTool("pay", {}, { signal: controller.signal }).catch((error: Error) => error);
    await vi.waitFor(() => expect(onElicit).toHaveBeenCalledTimes(1));
    controller.abort(new Error("enough"));
    expect(await given).toMatchObject({ message: "enough" });
    const calling = client.callTool("pay").catch((error: Error) => error);
    await vi.waitFor(() => expect(onElicit).toHaveBeenCalledTimes(2));
    await client.close();
    expect(await calling).toMatchObject({ reason: "closed" });
  });
});
