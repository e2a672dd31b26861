/** What a server may ask of the application: pushed as requests by a legacy one, in rounds by a modern one. */

import type { ElicitParams, JsonObject } from "@patchbay/core";
import { describe, expect, test, vi } from "vitest";
import { AnswerError, type ConnectOptions, connect, InvalidResponseError } from "../src/index.ts";
import { LEGACY, MODERN, type Script, scripted } from "./scripted.ts";

const TEXT = { content: [{ type: "text", text: "done" }] };
const FORM = {
  message: "Who?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } } },
};
const SAMPLE = { messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 9 };
const SAID = { role: "assistant" as const, content: { type: "text" as const, text: "ho" }, model: "m" };

const paramsOf = (message: JsonObject | undefined) => (message?.params ?? {}) as JsonObject;

function promised() {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe("what is declared", () => {
  test.each<[ConnectOptions, JsonObject, JsonObject]>([
    [{}, {}, {}],
    [
      { onElicit: () => ({ action: "cancel" }) },
      { elicitation: { form: {}, url: {} } },
      { elicitation: { form: {}, url: {} } },
    ],
    [
      { onElicit: () => ({ action: "cancel" }), elicitModes: ["form"] },
      { elicitation: { form: {} } },
      { elicitation: { form: {} } },
    ],
    [{ onSample: () => SAID }, { sampling: { tools: {} } }, { sampling: { tools: {} } }],
    [{ onSample: () => SAID, sampleTools: false }, { sampling: {} }, { sampling: {} }],
    [{ roots: [] }, { roots: { listChanged: true } }, { roots: {} }],
    [
      { extensions: { "a/b": { c: 1 } } },
      { extensions: { "a/b": { c: 1 } } },
      { extensions: { "a/b": { c: 1 } } },
    ],
  ])("%o", async (options, legacy, modern) => {
    const old = scripted(LEGACY);
    await connect(old, options);
    expect(paramsOf(old.received[1]).capabilities).toEqual(legacy);
    const young = scripted(MODERN);
    await connect(young, options);
    const meta = paramsOf(young.received[0])._meta as JsonObject;
    expect(meta["io.modelcontextprotocol/clientCapabilities"]).toEqual(modern);
  });

  test("roots have to be files", async () => {
    await expect(connect(scripted(MODERN), { roots: [{ uri: "https://a" }] })).rejects.toThrow("file://");
  });
});

/** Connects to a legacy server that asks once a tool is called, and gives what was answered. */
async function pushed(method: string, params: JsonObject | undefined, options: ConnectOptions) {
  const server = scripted({
    ...LEGACY,
    "tools/call": ({ ask }) => {
      ask("q", method, params);
      return TEXT;
    },
  });
  const client = await connect(server, options);
  await client.callTool("a");
  return vi.waitFor(() => {
    const answer = server.received.find(({ id }) => id === "q");
    if (answer === undefined) throw new Error("no answer yet");
    return answer as JsonObject & { result?: JsonObject; error?: JsonObject };
  });
}

describe("a legacy server", () => {
  test("gets the answer of the callback, which is told who asks", async () => {
    const onElicit = vi.fn(() => ({ action: "accept" as const, content: { name: "Ada" } }));
    expect((await pushed("elicitation/create", FORM, { onElicit })).result).toEqual({
      action: "accept",
      content: { name: "Ada" },
    });
    expect(onElicit).toHaveBeenCalledWith(
      { ...FORM, mode: "form" },
      {
        signal: expect.any(AbortSignal),
        server: "the server in this process",
        serverInfo: { name: "scripted", version: "1" },
      },
    );
    expect((await pushed("sampling/createMessage", SAMPLE, { onSample: async () => SAID })).result).toEqual(
      SAID,
    );
    const roots = [{ uri: "file:///home" }];
    expect((await pushed("roots/list", undefined, { roots: () => roots })).result).toEqual({ roots });
  });

  test.each<[string, JsonObject | undefined, ConnectOptions, number, string]>([
    ["roots/list", undefined, {}, -32601, "declared no capability"],
    ["elicitation/create", FORM, {}, -32601, "declared no capability"],
    ["x/y", {}, { roots: [] }, -32601, "Method not found: x/y"],
    [
      "elicitation/create",
      { mode: "url", message: "Go", url: "https://a/" },
      { onElicit: () => ({ action: "accept" }), elicitModes: ["form"] },
      -32602,
      "did not declare",
    ],
    [
      "elicitation/create",
      { mode: "url", message: "Go", url: "javascript:alert(1)" },
      { onElicit: () => ({ action: "accept" }) },
      -32602,
      "https:",
    ],
    [
      "elicitation/create",
      { mode: "song", message: "?" },
      { onElicit: () => ({ action: "accept" }) },
      -32602,
      "song",
    ],
    [
      "elicitation/create",
      { message: "?", requestedSchema: { type: "object", $ref: "https://a/b" } },
      { onElicit: () => ({ action: "accept" }) },
      -32602,
      "not fetched",
    ],
    ["sampling/createMessage", { messages: "hi" }, { onSample: () => SAID }, -32602, '"messages"'],
    [
      "sampling/createMessage",
      { ...SAMPLE, messages: [{ role: "user", content: [null] }] },
      { onSample: () => SAID },
      -32602,
      '"messages"',
    ],
    [
      "sampling/createMessage",
      { ...SAMPLE, tools: [] },
      { onSample: () => SAID, sampleTools: false },
      -32602,
      "tools",
    ],
  ])("that asks %s %o is told what is wrong", async (method, params, options, code, message) => {
    const { error } = await pushed(method, params, options);
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  test("is told nothing of why a callback failed; the application is", async () => {
    const onWarning = vi.fn();
    const failure = new Error("password is hunter2");
    const onElicit = () => {
      throw failure;
    };
    const { error } = await pushed("elicitation/create", FORM, { onElicit, onWarning });
    expect(error).toEqual({ code: -32603, message: "Internal error" });
    expect(onWarning).toHaveBeenCalledWith(failure);
  });

  test("that cancels its question is not answered, and the callback's signal aborts", async () => {
    const aborted = promised();
    const server = scripted({
      ...LEGACY,
      "tools/call": ({ ask, notify }) => {
        ask("q", "elicitation/create", FORM);
        queueMicrotask(() => notify("notifications/cancelled", { requestId: "q", reason: "too late" }));
        return TEXT;
      },
      "tools/list": () => ({ tools: [] }),
    });
    const client = await connect(server, {
      onElicit: (_, { signal }) =>
        new Promise((resolve) => {
          const end = () => {
            expect(signal.reason.message).toBe("too late");
            aborted.resolve();
            resolve({ action: "cancel" });
          };
          if (signal.aborted) end();
          else signal.addEventListener("abort", end);
        }),
    });
    await client.callTool("a");
    await aborted.promise;
    await client.listTools();
    expect(server.received.map(({ id }) => id)).not.toContain("q");
  });

  test("may not ask without end", async () => {
    const server = scripted({
      ...LEGACY,
      "tools/call": ({ ask }) => {
        for (const id of ["a", "b", "c"]) ask(id, "elicitation/create", FORM);
        return TEXT;
      },
    });
    const client = await connect(server, { onElicit: () => new Promise(() => {}), maxQuestions: 2 });
    await client.callTool("a");
    const refused = await vi.waitFor(() => {
      const found = server.received.find(({ id }) => id === "c");
      if (found === undefined) throw new Error("no answer yet");
      return found;
    });
    expect(refused.error).toMatchObject({
      message: expect.stringContaining("maxQuestions"),
      data: { value: 2 },
    });
  });

  test("older than several blocks in a message gets one", async () => {
    const old: Script = {
      initialize: () => ({ protocolVersion: "2025-06-18", capabilities: { tools: {} } }),
      "tools/call": ({ ask }) => {
        ask("q", "sampling/createMessage", SAMPLE);
        return TEXT;
      },
    };
    const server = scripted({ ...LEGACY, ...old });
    const client = await connect(server, { onSample: () => ({ ...SAID, content: [SAID.content] }) });
    await client.callTool("a");
    await vi.waitFor(() => expect(server.received).toContainEqual({ jsonrpc: "2.0", id: "q", result: SAID }));
  });

  test("is told that the roots changed", async () => {
    const server = scripted(LEGACY);
    const client = await connect(server, { roots: [] });
    await client.setRoots([{ uri: "file:///new" }]);
    expect(server.received.at(-1)).toEqual({ jsonrpc: "2.0", method: "notifications/roots/list_changed" });
    const without = await connect(scripted(LEGACY));
    await expect(without.setRoots([])).rejects.toThrow("no roots were given");
  });
});

/** A modern server whose tool asks round after round; what each round gives is `rounds`, then the result. */
async function resumed(rounds: JsonObject[], options: ConnectOptions) {
  const calls: JsonObject[] = [];
  const server = scripted({
    ...MODERN,
    "tools/call": ({ id, params }) => {
      const { _meta, ...rest } = params;
      calls.push({ id, ...rest });
      const round = rounds[calls.length - 1];
      return round === undefined ? TEXT : { resultType: "input_required", ...round };
    },
  });
  const client = await connect(server, options);
  return { client, calls };
}

const ASK = { method: "elicitation/create", params: FORM };

describe("a modern server", () => {
  test("gets all answers of a round with its state, on a new id", async () => {
    const state = '{"opaque": "\\u00e9"}';
    const { client, calls } = await resumed(
      [
        {
          inputRequests: { who: ASK, say: { method: "sampling/createMessage", params: SAMPLE } },
          requestState: state,
        },
        { inputRequests: { where: { method: "roots/list" } } },
      ],
      {
        onElicit: () => ({ action: "decline", content: { name: "not told" } }),
        onSample: () => SAID,
        roots: [{ uri: "file:///a" }],
      },
    );
    expect(await client.callTool("a", { b: 1 })).toEqual(TEXT);
    const args = { name: "a", arguments: { b: 1 } };
    expect(calls).toEqual([
      { id: 2, ...args },
      { id: 3, ...args, inputResponses: { who: { action: "decline" }, say: SAID }, requestState: state },
      { id: 4, ...args, inputResponses: { where: { roots: [{ uri: "file:///a" }] } } },
    ]);
  });

  test("has its questions of one round asked at once", async () => {
    const { client } = await resumed([{ inputRequests: { one: ASK, two: ASK } }], {
      onElicit: async () => {
        if (++waiting === 2) both.resolve();
        await both.promise;
        return { action: "cancel" };
      },
    });
    const both = promised();
    let waiting = 0;
    expect(await client.callTool("a")).toEqual(TEXT);
  });

  test("that has only a state is asked again", async () => {
    const { client, calls } = await resumed([{ requestState: "a" }, { requestState: "b" }], {});
    expect(await client.callTool("a")).toEqual(TEXT);
    expect(calls.map(({ requestState }) => requestState)).toEqual([undefined, "a", "b"]);
    expect(calls[1]).not.toHaveProperty("inputResponses");
  });

  test("that asks for ever is left after maxRounds", async () => {
    const rounds = Array.from({ length: 9 }, () => ({ inputRequests: { who: ASK } }));
    const { client, calls } = await resumed(rounds, { onElicit: () => ({ action: "cancel" }), maxRounds: 3 });
    const error = await client.callTool("a").catch((thrown) => thrown);
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toContain("maxRounds allows (3)");
    expect(calls).toHaveLength(4);
  });

  test.each<[JsonObject, string]>([
    [{ inputRequests: { who: ASK } }, 'inputRequests["who"] (elicitation/create): Method not found'],
    [{ inputRequests: { x: { method: "x/y" } } }, 'inputRequests["x"] (x/y)'],
    [{ inputRequests: { x: 1 } }, 'inputRequests["x"] is no request'],
    [{ inputRequests: [] }, "neither inputRequests nor a requestState"],
    [{}, "neither inputRequests nor a requestState"],
    [{ requestState: 1 }, "requestState is not a string"],
  ])("that asks what it may not (%o) fails that request, and nobody is asked", async (round, message) => {
    const roots = vi.fn(() => []);
    const asked = { ...round };
    if ("inputRequests" in asked && !Array.isArray(asked.inputRequests)) {
      asked.inputRequests = { fine: { method: "roots/list" }, ...(asked.inputRequests as JsonObject) };
    }
    const { client } = await resumed([asked], { roots });
    await expect(client.callTool("a")).rejects.toThrow(message);
    expect(roots).not.toHaveBeenCalled();
  });

  test("that sends requests as a legacy one does is not answered, and nobody is asked", async () => {
    const onElicit = vi.fn(() => ({ action: "cancel" as const }));
    const server = scripted({
      ...MODERN,
      "tools/call": ({ ask }) => {
        ask("q1", "elicitation/create", FORM);
        ask("q2", "ping");
        ask("q3", "x/y");
        return TEXT;
      },
    });
    const client = await connect(server, { onElicit });
    await client.callTool("a");
    await client.ping();
    expect(server.received.map(({ method }) => method)).toEqual([
      "server/discover",
      "tools/call",
      "server/discover",
    ]);
    expect(onElicit).not.toHaveBeenCalled();
  });

  test("may ask for input in answer to three methods only", async () => {
    const server = scripted({
      ...MODERN,
      "tools/list": () => ({ resultType: "input_required", requestState: "a" }),
    });
    const client = await connect(server);
    await expect(client.listTools()).rejects.toThrow("never answered by a request for input");
  });

  test("is asked by hand by who brings the answers along", async () => {
    const { client, calls } = await resumed([{}, { requestState: "b" }], {});
    const params = { name: "a", inputResponses: {}, requestState: "a" };
    expect(await client.request("tools/call", params)).toEqual({ resultType: "input_required" });
    expect(calls).toHaveLength(1);
  });

  test("makes the request fail with what a callback threw; the other questions are called off", async () => {
    const failure = new Error("no keyboard");
    let other: AbortSignal | undefined;
    const { client, calls } = await resumed([{ inputRequests: { one: ASK, two: ASK } }], {
      onElicit: (_, { signal }) => {
        if (other !== undefined) throw failure;
        other = signal;
        return new Promise(() => {});
      },
    });
    await expect(client.callTool("a")).rejects.toBe(failure);
    expect(other?.aborted).toBe(true);
    expect(calls).toHaveLength(1);
  });

  test("is not asked again when the caller gives up while the user thinks", async () => {
    const controller = new AbortController();
    const { client, calls } = await resumed([{ inputRequests: { who: ASK } }], {
      onElicit: () => {
        controller.abort(new Error("enough"));
        return new Promise(() => {});
      },
    });
    await expect(client.callTool("a", {}, { signal: controller.signal })).rejects.toThrow("enough");
    expect(calls).toHaveLength(1);
  });

  test("tells of progress in each round; the application is told when there is more", async () => {
    let round = 0;
    const server = scripted({
      ...MODERN,
      "tools/call": ({ id, notify }) => {
        for (const progress of [1, 2, 2, 1, 3].slice(0, 3 + 2 * round)) {
          notify("notifications/progress", { progressToken: id, progress });
        }
        return round++ === 0 ? { resultType: "input_required", requestState: "a" } : TEXT;
      },
    });
    const client = await connect(server);
    const told: number[] = [];
    await client.callTool("a", {}, { onProgress: ({ progress }) => told.push(progress) });
    expect(told).toEqual([1, 2, 3]);
  });
});

describe("a form", () => {
  const requestedSchema = {
    type: "object",
    properties: {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive"], default: "active" },
      verified: { type: "boolean", default: true },
      colors: { type: "array", items: { type: "string", enum: ["red", "green"] }, default: ["red"] },
    },
    required: ["name"],
  };
  const form = { message: "Who?", requestedSchema } as unknown as ElicitParams & JsonObject;

  test("has its defaults filled in where the user left it alone", async () => {
    const onElicit = () => ({ action: "accept" as const, content: { age: 31 } });
    expect((await pushed("elicitation/create", form, { onElicit })).result).toEqual({
      action: "accept",
      content: { name: "John Doe", age: 31, score: 95.5, status: "active", verified: true, colors: ["red"] },
    });
  });

  test("with a wrong value is not sent: a legacy server is told what is wrong, a modern one nothing", async () => {
    const onElicit = () => ({ action: "accept" as const, content: { age: "old" } });
    expect((await pushed("elicitation/create", form, { onElicit })).error).toMatchObject({
      message: expect.stringContaining("age: must be integer"),
    });
    const asked = { inputRequests: { who: { method: "elicitation/create", params: form } } };
    const { client, calls } = await resumed([asked], { onElicit });
    await expect(client.callTool("a")).rejects.toThrow(AnswerError);
    expect(calls).toHaveLength(1);
  });

  test("whose pattern never ends is not filled in for ever", async () => {
    const properties = { name: { type: "string", pattern: "^(a|a)*$" } };
    const params = { message: "?", requestedSchema: { type: "object", properties } };
    const onElicit = () => ({ action: "accept" as const, content: { name: `${"a".repeat(60)}!` } });
    expect((await pushed("elicitation/create", params, { onElicit })).error).toMatchObject({
      message: expect.stringContaining("takes more than 1000 ms"),
    });
  });
});
