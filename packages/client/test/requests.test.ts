/** What a client asks, how it is written, and what it makes of the answers. */

import { type JsonObject, LEGACY_REVISIONS, type LogMessage } from "@patchbay/core";
import { describe, expect, test } from "vitest";
import { connect, InvalidResponseError } from "../src/index.ts";
import { LEGACY, MODERN, type Script, scripted } from "./scripted.ts";

const TEXT = { content: [{ type: "text", text: "done" }] };
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "patchbay", version: expect.any(String) },
  "io.modelcontextprotocol/clientCapabilities": {},
};

async function modern(script: Script, options: Parameters<typeof connect>[1] = {}) {
  const server = scripted({ ...MODERN, ...script });
  return { client: await connect(server, options), received: server.received };
}

async function legacy(script: Script, options: Parameters<typeof connect>[1] = {}) {
  const server = scripted({ ...LEGACY, ...script });
  return { client: await connect(server, options), received: server.received };
}

const methods = (received: JsonObject[]) => received.map(({ method }) => method);

describe("negotiation", () => {
  test("a modern server is asked once, and each request says who asks", async () => {
    const { client, received } = await modern({ "tools/call": () => TEXT });
    await client.callTool("a", { b: 1 });
    expect(received).toEqual([
      { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: META } },
      {
        jsonrpc: "2.0",
        id: 2,
        method: "tools/call",
        params: { name: "a", arguments: { b: 1 }, _meta: META },
      },
    ]);
  });

  test("a legacy server is initialized, and requests are bare", async () => {
    const { client, received } = await legacy({ "tools/call": () => TEXT });
    await client.callTool("a", { b: 1 });
    expect(client).toMatchObject({ era: "legacy", server: { name: "scripted" }, instructions: "Be kind." });
    expect(received.slice(1)).toEqual([
      {
        jsonrpc: "2.0",
        id: 2,
        method: "initialize",
        params: {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: META["io.modelcontextprotocol/clientInfo"],
        },
      },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "a", arguments: { b: 1 } } },
    ]);
  });

  test("a modern server that wants another revision is not initialized", async () => {
    const server = scripted({
      "server/discover": () => {
        throw { code: -32022, message: "Unsupported protocol version", data: { supported: ["2027-01-01"] } };
      },
    });
    await expect(connect(server)).rejects.toMatchObject({
      reason: "incompatible",
      message: expect.stringContaining("it speaks 2027-01-01"),
    });
    expect(methods(server.received)).toEqual(["server/discover"]);
  });

  test.each([-32020, -32021])("nor is one that refuses with a modern code (%i)", async (code) => {
    const server = scripted({
      "server/discover": () => {
        throw { code, message: "You lack sampling" };
      },
    });
    await expect(connect(server)).rejects.toThrow("refused server/discover: You lack sampling");
    expect(methods(server.received)).toEqual(["server/discover"]);
  });

  test("a server that names a legacy revision is opened in it", async () => {
    const { client } = await legacy({
      "server/discover": () => {
        throw { code: -32022, message: "Unsupported protocol version", data: { supported: ["2025-11-25"] } };
      },
    });
    expect(client.revision).toBe("2025-11-25");
  });

  test.each(LEGACY_REVISIONS)(
    "a server may choose any legacy revision that we speak (%s)",
    async (revision) => {
      const { client } = await legacy({
        initialize: () => ({ protocolVersion: revision, capabilities: {} }),
      });
      expect(client).toMatchObject({ era: "legacy", revision });
    },
  );

  test("a server that refuses the newest legacy revision, and names another, is opened in that", async () => {
    const { client, received } = await legacy(
      {
        initialize: ({ params }) => {
          const supported = ["2024-11-05", "2025-03-26"];
          if (!supported.includes(params.protocolVersion as string))
            throw { code: -32602, message: "Unsupported protocol version", data: { supported } };
          return { protocolVersion: params.protocolVersion as string, capabilities: {} };
        },
        "completion/complete": () => ({ completion: { values: [] } }),
      },
      { clientInfo: { name: "me", version: "1", title: "Me", websiteUrl: "https://me" } },
    );
    expect(client.revision).toBe("2025-03-26");
    expect(received[2]).toMatchObject({ params: { protocolVersion: "2025-03-26" } });
    expect((received[2]?.params as JsonObject | undefined)?.clientInfo).toEqual({ name: "me", version: "1" });
    const ref = { type: "ref/prompt" as const, name: "p" };
    await client.complete({ ref, argument: { name: "a", value: "b" }, context: { arguments: {} } });
    expect(received.at(-1)?.params).toEqual({ ref, argument: { name: "a", value: "b" } });
  });

  test("a server that chooses a revision nobody knows is refused", async () => {
    const server = scripted({
      ...LEGACY,
      initialize: () => ({ protocolVersion: "1999-01-01", capabilities: {} }),
    });
    await expect(connect(server)).rejects.toThrow('it chose "1999-01-01"');
  });

  test("a server that refuses initialize is quoted", async () => {
    const server = scripted({
      "server/discover": () => undefined,
      initialize: () => {
        throw { code: -32000, message: "No licence" };
      },
    });
    await expect(connect(server, { probeTimeout: 5 })).rejects.toThrow("refused initialize: No licence");
  });
});

describe("lists", () => {
  const pages = (cursors: (string | undefined)[]) => {
    let page = 0;
    return ({ params }: { params: JsonObject }) => ({
      tools: [{ name: `of ${params.cursor ?? "the start"}`, inputSchema: {} }],
      nextCursor: cursors[page++],
    });
  };
  const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
  const names = (tools: { name: string }[]) => tools.map(({ name }) => name);

  test("all pages are collected; an empty string is a cursor", async () => {
    const { client } = await modern({ "tools/list": pages(["", "b"]) });
    expect(names(await client.listTools())).toEqual(["of the start", "of ", "of b"]);
  });

  test("a repeated cursor is an error", async () => {
    const { client } = await modern({ "tools/list": pages(["a", "a", "a"]) });
    await expect(client.listTools()).rejects.toThrow("the server repeats a cursor");
  });

  test("pages without end are an error that names the limit", async () => {
    let page = 0;
    const script = { "tools/list": () => ({ tools: [], nextCursor: String(page++) }) };
    const { client } = await modern(script, { maxPages: 3 });
    await expect(client.listTools()).rejects.toThrow("more pages than maxPages allows (3)");
  });

  test("items without end are an error that names the limit, in one page or in many", async () => {
    let page = 0;
    const many = { "tools/list": () => ({ tools: [tool(`t${page}`)], nextCursor: String(page++) }) };
    const { client } = await modern(many, { maxListed: 3 });
    await expect(client.listTools()).rejects.toThrow("more items than maxListed allows (3)");
    expect(page).toBe(4);
    const one = { "tools/list": () => ({ tools: ["a", "b", "c", "d"].map(tool) }) };
    await expect((await modern(one, { maxListed: 3 })).client.listTools()).rejects.toThrow("maxListed");
    expect(await (await modern(one, { maxListed: 4 })).client.listTools()).toHaveLength(4);
  });

  test("large pages without end are an error that names the limit", async () => {
    let page = 0;
    const large = (name: string) => ({ ...tool(name), description: "x".repeat(1_000) });
    const script = { "tools/list": () => ({ tools: [large(`t${page}`)], nextCursor: String(page++) }) };
    const { client } = await modern(script, { maxListedChars: 3_000 });
    await expect(client.listTools()).rejects.toThrow("more characters than maxListedChars allows (3000)");
    expect(page).toBe(3);
  });

  test.each([2 ** 31, 1e15, Number.POSITIVE_INFINITY])(
    "times of %d ms are as long as a timer can wait",
    async (ms) => {
      const warnings: Error[] = [];
      const onWarning = (warning: Error) => warnings.push(warning);
      process.on("warning", onWarning);
      const times = { connectTimeout: ms, probeTimeout: ms, timeout: ms, maxTimeout: ms, closeTimeout: ms };
      const { client } = await legacy({ "tools/call": () => TEXT }, times);
      expect(await client.callTool("a")).toEqual(TEXT);
      expect(await client.callTool("a", {}, { timeout: ms, maxTimeout: ms })).toEqual(TEXT);
      await client.close();
      // Warnings are told in a turn of their own.
      await new Promise(setImmediate);
      process.off("warning", onWarning);
      expect(warnings).toEqual([]);
    },
  );

  test("what a server does not offer is not asked for", async () => {
    const script = { "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities: {} }) };
    const { client, received } = await modern(script);
    expect(await client.listTools()).toEqual([]);
    expect(await client.listResources()).toEqual([]);
    expect(await client.listResourceTemplates()).toEqual([]);
    expect(await client.listPrompts()).toEqual([]);
    expect(received).toHaveLength(1);
  });

  test("a server with resources may know nothing of templates", async () => {
    const { client } = await modern({
      "resources/templates/list": () => {
        throw { code: -32601, message: "Method not found" };
      },
    });
    expect(await client.listResourceTemplates()).toEqual([]);
  });
});

describe("answers", () => {
  test("a JSON-RPC error is a ProtocolError with its code, message and data", async () => {
    const { client } = await modern({
      "tools/call": () => {
        throw { code: -32602, message: "Unknown tool", data: { nearest: "echo" } };
      },
    });
    await expect(client.callTool("ecko")).rejects.toMatchObject({
      name: "ProtocolError",
      code: -32602,
      message: "Unknown tool",
      data: { nearest: "echo" },
    });
  });

  test.each([
    ["no content", {}, 'tools/call: the result has no "content" array'],
    ["content that is none", { content: "text" }, 'tools/call: the result has no "content" array'],
    ["a block that is none", { content: [null] }, "tools/call: content[0] is not an object"],
    ["a block without a type", { content: [{ text: "x" }] }, "tools/call: content[0] has no type"],
    [
      "a request for input",
      { resultType: "input_required" },
      "it has neither inputRequests nor a requestState",
    ],
    [
      "a type that cannot be shown",
      { resultType: { toString: null } },
      'unknown resultType {"toString":null}',
    ],
    ["a text without text", { content: [{ type: "text" }] }, "content[0] has no text"],
    ["an image without data", { content: [{ type: "image", mimeType: "a/b" }] }, "content[0] has no data"],
    ["a link to nowhere", { content: [{ type: "resource_link", name: "a" }] }, "content[0] has no uri"],
    ["a resource without contents", { content: [{ type: "resource" }] }, "content[0] has no resource"],
    ["an unknown type", { resultType: "half\u0007" }, 'unknown resultType "half'],
  ])("a tool result with %s is an error", async (_, result, message) => {
    const { client } = await modern({ "tools/call": () => result });
    const error = await client.callTool("a").catch((thrown) => thrown);
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toContain(message);
  });

  test("so is a list, a resource, a prompt or a completion of the wrong shape", async () => {
    const { client } = await modern({
      "tools/list": () => ({ tools: [{ name: "a", inputSchema: {} }, { name: "b" }] }),
      "resources/list": () => ({ resources: [{ name: "a" }] }),
      "resources/templates/list": () => ({ resourceTemplates: [[]] }),
      "resources/read": () => ({ contents: [{ uri: "a:b" }] }),
      "prompts/list": () => ({ prompts: [{ name: 1 }] }),
      "prompts/get": () => ({ messages: [{ role: "user", content: "text" }] }),
      "completion/complete": () => ({ completion: { values: [1] } }),
    });
    await expect(client.listTools()).rejects.toThrow("tools/list: tools[1] has no inputSchema");
    await expect(client.listResources()).rejects.toThrow("resources[0] has no uri");
    await expect(client.listResourceTemplates()).rejects.toThrow("resourceTemplates[0] is not an object");
    await expect(client.readResource("a:b")).rejects.toThrow("contents[0] has neither text nor blob");
    await expect(client.listPrompts()).rejects.toThrow("prompts[0] has no name");
    await expect(client.getPrompt("a")).rejects.toThrow("messages[0] has no content block");
    const ref = { type: "ref/prompt", name: "a" } as const;
    await expect(client.complete({ ref, argument: { name: "x", value: "" } })).rejects.toThrow(
      "completion.values",
    );
  });

  test("a result that is no object is an error of that request alone", async () => {
    const { client } = await modern({
      "tools/call": ({ answer, params }) => {
        if (params.name === "good") return TEXT;
        answer("text");
        return undefined;
      },
    });
    await expect(client.callTool("bad")).rejects.toThrow('"result" must be an object');
    expect(await client.callTool("good")).toMatchObject(TEXT);
  });

  test("answers to nobody, and notifications of nothing, are passed over", async () => {
    const { client } = await modern({
      "tools/call": ({ id, notify, answer }) => {
        notify("notifications/progress", { progressToken: "unknown", progress: 1 });
        notify("notifications/message", { level: "loud", data: 1 });
        notify("notifications/never/heard/of", {});
        answer(TEXT);
        answer({ content: [{ type: "text", text: `again ${id}` }] });
        return undefined;
      },
    });
    expect(await client.callTool("a")).toMatchObject(TEXT);
    expect(await client.callTool("a")).toMatchObject(TEXT);
  });
});

describe("any other request", () => {
  test("a _meta has keys that are names", async () => {
    const { client } = await modern({});
    await expect(client.request("x/y", { _meta: { "a b": 1 } })).rejects.toThrow(/_meta has the key "a b"/);
  });

  test("carries a caller's _meta beside ours, which cannot be overruled", async () => {
    const { client, received } = await modern({ "x/y": () => ({ z: 1 }) });
    const _meta = {
      traceparent: "00-1",
      "io.modelcontextprotocol/protocolVersion": "1",
      progressToken: "mine",
    };
    expect(await client.request("x/y", { a: 1, _meta })).toEqual({ z: 1 });
    expect(received.at(-1)).toMatchObject({ params: { a: 1, _meta: { traceparent: "00-1", ...META } } });
    expect(received.at(-1)).not.toHaveProperty("params._meta.progressToken");
  });

  test("has no params where there is nothing to say", async () => {
    const { client, received } = await legacy({ ping: () => ({}) });
    await client.ping();
    expect(received.at(-1)).toEqual({ jsonrpc: "2.0", id: 3, method: "ping" });
  });

  test("ping asks a modern server to introduce itself again", async () => {
    const { client, received } = await modern({});
    await client.ping();
    expect(methods(received)).toEqual(["server/discover", "server/discover"]);
  });
});

describe("logging", () => {
  const say =
    (level: string): Script["x"] =>
    ({ notify }) => {
      notify("notifications/message", { level, logger: "db", data: { rows: 1 } });
      return TEXT;
    };

  test("a modern server is told the level with each request, and only when somebody listens", async () => {
    const { client, received } = await modern({ "tools/call": say("error") });
    await client.callTool("a");
    expect(received.at(-1)).not.toHaveProperty(["params", "_meta", "io.modelcontextprotocol/logLevel"]);
    const heard: LogMessage[] = [];
    await client.callTool("a", {}, { onLog: (message) => heard.push(message), logLevel: "warning" });
    expect(received.at(-1)).toHaveProperty(
      ["params", "_meta", "io.modelcontextprotocol/logLevel"],
      "warning",
    );
    expect(heard).toEqual([{ level: "error", logger: "db", data: { rows: 1 } }]);
    await client.setLogLevel("debug");
    await client.callTool("a");
    expect(received.at(-1)).toHaveProperty(["params", "_meta", "io.modelcontextprotocol/logLevel"], "debug");
  });

  test("a legacy server is told the level once", async () => {
    const heard: LogMessage[] = [];
    const script = { "logging/setLevel": () => ({}), "tools/call": say("info") };
    const { client, received } = await legacy(script, {
      onLog: (message) => heard.push(message),
      logLevel: "notice",
    });
    expect(received.at(-1)).toMatchObject({ method: "logging/setLevel", params: { level: "notice" } });
    const own: LogMessage[] = [];
    await client.callTool("a", {}, { onLog: (message) => own.push(message), logLevel: "error" });
    expect(heard).toHaveLength(1);
    expect(own).toEqual([]);
  });
});
