/** Every feature, over every transport and revision: one body. */

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { McpServer, ProtocolError, ResourceNotFoundError } from "../src/index.ts";
import { type Json, WIRES, type Wire } from "./wire.ts";

let cancelled: PromiseWithResolvers<unknown>;
const reported: [string, string][] = [];

interface PromiseWithResolvers<T> {
  promise: Promise<T>;
  resolve: (value: T) => void;
}

function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const server = new McpServer(
  { name: "features", version: "1.0.0", title: "Features" },
  {
    instructions: "Try each.",
    pageSize: 5,
    onError: (error, where) => reported.push([where, String(error)]),
  },
)
  .tool(
    "echo",
    {
      title: "Echo",
      description: "Says it back",
      annotations: { readOnlyHint: true },
      icons: [{ src: "data:image/png;base64,aGk=" }],
      input: z.object({ text: z.string(), title: z.string().optional() }),
    },
    ({ text }) => text,
  )
  .tool(
    "add",
    { input: z.object({ a: z.number(), b: z.number().default(1) }), output: z.object({ sum: z.number() }) },
    ({ a, b }) => ({ sum: a + b }),
  )
  .tool("list", { output: { type: "array", items: { type: "number" } } }, () => [1, 2] as never)
  .tool("lies", { output: z.object({ sum: z.number() }) }, () => ({ sum: "three" }) as never)
  .tool("blocks", {}, () => [
    { type: "image", data: "aGk=", mimeType: "image/png" },
    { type: "resource_link", uri: "test://a", name: "a" },
    { type: "audio", data: "aGk=", mimeType: "audio/wav" },
  ])
  .tool("broken-block", {}, () => [{ type: "image", data: "aGk=" }] as never)
  .tool("broken-result", {}, () => ({ content: [{ type: "audio", data: "aGk=" }] }) as never)
  .tool("refuses", {}, () => {
    throw new Error("The tea is out");
  })
  .tool("breaks", {}, () => {
    const nothing = undefined as unknown as { property: string };
    return nothing.property;
  })
  .tool("protests", {}, () => {
    throw new ProtocolError(-32602, "Not like this", { field: "x" });
  })
  .tool("counts", {}, (_args, ctx) => {
    for (const step of [1, 2, 2, 1, Number.NaN, 3]) ctx.progress(step, 3, `step ${step}`);
    ctx.progress(Number.POSITIVE_INFINITY);
    ctx.progress(4, Number.POSITIVE_INFINITY);
    return "counted";
  })
  .tool("logs", {}, (_args, ctx) => {
    ctx.log("debug", "quiet");
    ctx.log("error", { loud: true }, "test");
    ctx.log("error", undefined);
    return "logged";
  })
  .tool("waits", {}, async (_args, ctx) => {
    ctx.progress(1);
    await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    cancelled.resolve(ctx.signal.reason);
    return "too late";
  })
  .tool("who", {}, (_args, ctx) => `${ctx.client.info?.name} in ${ctx.revision}`)
  .tool(
    "constructor",
    { input: { type: "object", properties: { days: { type: "integer" } }, required: ["days"] } },
    (args) => JSON.stringify(args),
  )
  .resource("test://text", { name: "text", mimeType: "text/plain" }, () => "Hello")
  .resource(
    "test://bytes",
    { name: "bytes", cache: { ttlMs: 60_000, cacheScope: "public" } },
    () => new Uint8Array([1, 2]),
  )
  .resourceTemplate(
    "test://user/{id}/notes",
    { name: "notes", complete: { id: (value) => ["ada", "alan"].filter((id) => id.startsWith(value)) } },
    (uri, { id }) => {
      if (id === "nobody") throw new ResourceNotFoundError(uri);
      return `Notes of ${id}`;
    },
  )
  .prompt(
    "greet",
    {
      description: "Greets",
      arguments: [{ name: "name", required: true }, { name: "tone" }],
      complete: {
        tone: (value, { name }) => [
          `${value}${name ?? ""}`,
          ...Array.from({ length: 120 }, (_, n) => `${n}`),
        ],
      },
    },
    ({ name }) => `Greet ${name}`,
  );

describe.each(WIRES)("%s", (_name, open) => {
  let wire: Wire;
  const call = (name: string, args?: Json, meta?: Json) =>
    wire.request("tools/call", { name, ...(args && { arguments: args }), ...(meta && { _meta: meta }) });

  beforeEach(async () => {
    cancelled = withResolvers();
    reported.length = 0;
    wire = await open(server);
  });
  afterEach(() => wire.close());

  test("lists tools in pages, in the order they were added", async () => {
    const names: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const { result } = await wire.request("tools/list", cursor === undefined ? {} : { cursor });
      names.push(...result.tools.map((tool: Json) => tool.name));
      cursor = result.nextCursor;
      pages++;
    } while (cursor !== undefined);
    expect(pages).toBe(3);
    expect(names.slice(0, 4)).toEqual(["echo", "add", "list", "lies"]);
    expect(names).toHaveLength(15);
  });

  test("refuses a cursor that it did not give", async () => {
    for (const cursor of ["nonsense", 3, null, {}]) {
      const { error } = await wire.request("tools/list", { cursor });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("cursor") });
    }
  });

  test("marks results as its revision does", async () => {
    const { result } = await wire.request("tools/list");
    if (wire.era === "modern") {
      expect(result).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "public" });
      expect(result._meta["io.modelcontextprotocol/serverInfo"]).toMatchObject({
        name: "features",
        title: "Features",
      });
    } else {
      expect(Object.keys(result).sort()).toEqual(["nextCursor", "tools"]);
    }
    const array = result.tools.find((tool: Json) => tool.name === "list");
    expect(array.outputSchema).toEqual(
      wire.era === "modern" ? { type: "array", items: { type: "number" } } : undefined,
    );
  });

  test("calls a tool", async () => {
    const { result } = await call("echo", { text: '안녕 \u2028 "q"' });
    expect(result.content).toEqual([{ type: "text", text: '안녕 \u2028 "q"' }]);
    expect(result.isError).toBeUndefined();
  });

  test("gives structured content that fits the output schema, and its text", async () => {
    const { result } = await call("add", { a: 2 });
    expect(result.structuredContent).toEqual(wire.revision >= "2025-06-18" ? { sum: 3 } : undefined);
    expect(JSON.parse(result.content[0].text)).toEqual({ sum: 3 });
  });

  test("gives structured content that is no object only to a revision that has it", async () => {
    const { result } = await call("list");
    expect(result.structuredContent).toEqual(wire.era === "modern" ? [1, 2] : undefined);
    expect(result.content).toEqual([{ type: "text", text: "[1,2]" }]);
  });

  test("keeps a result that does not fit its schema from the client", async () => {
    const { result } = await call("lies");
    expect(result.isError).toBe(true);
    expect(result.content[0].text).not.toContain("three");
    expect(reported[0]?.[1]).toContain("sum");
  });

  test("keeps content that lacks what its type needs from the client", async () => {
    for (const name of ["broken-block", "broken-result"]) {
      expect((await call(name)).result).toMatchObject({ isError: true });
      expect(reported.at(-1)).toEqual([name, expect.stringContaining("mimeType")]);
    }
  });

  test("passes content blocks through, as far as the revision has them", async () => {
    const { result } = await call("blocks");
    expect(result.content[0]).toEqual({ type: "image", data: "aGk=", mimeType: "image/png" });
    expect(result.content[1]).toEqual(
      wire.revision >= "2025-06-18"
        ? { type: "resource_link", uri: "test://a", name: "a" }
        : { type: "text", text: "a: test://a" },
    );
    expect(result.content[2].type).toBe(wire.revision >= "2025-03-26" ? "audio" : "text");
  });

  test("tells wrong arguments by path: to the model since 2025-11-25, to the client before", async () => {
    const told = async (name: string, args?: Json) => {
      const { result, error } = await call(name, args);
      if (wire.revision < "2025-11-25") {
        expect(error.code).toBe(-32602);
        return error.message;
      }
      expect(result.isError).toBe(true);
      return result.content[0].text;
    };
    expect(await told("add", { a: "two" })).toMatch(/add.*a: .*number/);
    expect(await told("constructor", { days: 1.5 })).toContain("days: must be integer");
    expect(await told("constructor")).toContain("days: is required");
  });

  test("knows tools by their own names only", async () => {
    expect((await call("ech")).error).toMatchObject({
      code: -32602,
      message: 'Unknown tool: ech; did you mean "echo"?',
    });
    for (const name of ["toString", "__proto__", "hasOwnProperty"]) {
      expect((await call(name)).error.code).toBe(-32602);
    }
    expect((await call("constructor", { days: 2 })).result.content[0].text).toBe('{"days":2}');
  });

  test("tells what was thrown on purpose, and keeps bugs to itself", async () => {
    const refused = await call("refuses");
    expect(refused.result).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "The tea is out" }],
    });
    expect(reported).toEqual([]);
    const broke = await call("breaks");
    expect(broke.result.isError).toBe(true);
    expect(JSON.stringify(broke)).not.toContain("undefined");
    expect(reported[0]?.[0]).toBe("breaks");
    expect((await call("protests")).error).toEqual({
      code: -32602,
      message: "Not like this",
      data: { field: "x" },
    });
  });

  test("refuses malformed parameters", async () => {
    expect((await wire.request("tools/call", { name: "echo", arguments: [1] })).error.code).toBe(-32602);
    expect((await wire.request("tools/call", { name: "echo", arguments: "x" })).error.code).toBe(-32602);
    expect((await wire.request("resources/read", {})).error.code).toBe(-32602);
    expect((await wire.request("nothing/here", {})).error).toMatchObject({ code: -32601 });
  });

  test("reports progress only when asked, growing, and before the answer", async () => {
    const said = (message: string) => (wire.revision >= "2025-03-26" ? { message } : {});
    await call("counts");
    expect(wire.notifications).toEqual([]);
    await call("counts", undefined, { progressToken: "p1" });
    expect(wire.notifications.map(({ params }) => params)).toEqual([
      { progressToken: "p1", progress: 1, total: 3, ...said("step 1") },
      { progressToken: "p1", progress: 2, total: 3, ...said("step 2") },
      { progressToken: "p1", progress: 3, total: 3, ...said("step 3") },
      { progressToken: "p1", progress: 4 },
    ]);
  });

  test("logs at the level that was asked for", async () => {
    if (wire.era === "legacy")
      expect((await wire.request("logging/setLevel", { level: "error" })).result).toEqual({});
    else await call("logs");
    expect(wire.notifications).toEqual([]);
    await call("logs", undefined, { "io.modelcontextprotocol/logLevel": "warning" });
    expect(wire.notifications.map(({ method, params }) => [method, params])).toEqual([
      ["notifications/message", { level: "error", logger: "test", data: { loud: true } }],
      ["notifications/message", { level: "error", data: null }],
    ]);
  });

  test("refuses a log level that there is not", async () => {
    const { error } =
      wire.era === "legacy"
        ? await wire.request("logging/setLevel", { level: "loud" })
        : await call("logs", undefined, { "io.modelcontextprotocol/logLevel": "loud" });
    expect(error.code).toBe(-32602);
  });

  test("stops a call that is cancelled, and answers the next", async () => {
    const pending = wire
      .request("tools/call", { name: "waits", _meta: { progressToken: 1 } }, "slow")
      .catch(() => "gone");
    await wire.notification(({ method }) => method === "notifications/progress");
    await wire.cancel("slow");
    expect(String(await cancelled.promise)).toContain("cancelled");
    expect((await call("echo", { text: "still here" })).result.content[0].text).toBe("still here");
    void pending;
  });

  test("tells the handler who asks", async () => {
    const { result } = await call("who");
    expect(result.content[0].text).toBe(`test in ${wire.revision}`);
  });

  test("lists definitions with what the revision has, and nothing else", async () => {
    const { result } = await wire.request("tools/list");
    const [echo, add] = result.tools as [Json, Json];
    expect("title" in echo).toBe(wire.revision >= "2025-06-18");
    expect("annotations" in echo).toBe(wire.revision >= "2025-03-26");
    expect("icons" in echo).toBe(wire.revision >= "2025-11-25");
    expect("outputSchema" in add).toBe(wire.revision >= "2025-06-18");
    expect(echo.inputSchema.properties).toHaveProperty("title");
  });

  test("lists and reads resources", async () => {
    const { result } = await wire.request("resources/list");
    expect(result.resources.map((resource: Json) => resource.uri)).toEqual(["test://text", "test://bytes"]);
    const text = (await wire.request("resources/read", { uri: "test://text" })).result;
    expect(text.contents).toEqual([{ uri: "test://text", mimeType: "text/plain", text: "Hello" }]);
    const bytes = (await wire.request("resources/read", { uri: "test://bytes" })).result;
    expect(bytes.contents).toEqual([{ uri: "test://bytes", blob: "AQI=" }]);
    if (wire.era === "modern") {
      expect(text).toMatchObject({ ttlMs: 0, cacheScope: "private" });
      expect(bytes).toMatchObject({ ttlMs: 60_000, cacheScope: "public" });
    } else {
      expect(Object.keys(bytes)).toEqual(["contents"]);
    }
  });

  test("reads resources by template", async () => {
    const { result } = await wire.request("resources/templates/list");
    expect(result.resourceTemplates).toEqual([{ uriTemplate: "test://user/{id}/notes", name: "notes" }]);
    const notes = (await wire.request("resources/read", { uri: "test://user/a%20b/notes" })).result;
    expect(notes.contents[0]).toEqual({ uri: "test://user/a%20b/notes", text: "Notes of a b" });
  });

  test("says that a resource is not there in its revision's words", async () => {
    const code = wire.era === "modern" ? -32602 : -32002;
    for (const uri of ["test://nothing", "test://user/nobody/notes", "test://user/a/b/notes"]) {
      expect((await wire.request("resources/read", { uri })).error).toMatchObject({ code, data: { uri } });
    }
  });

  test("lists and gets prompts", async () => {
    const { result } = await wire.request("prompts/list");
    expect(result.prompts).toEqual([
      {
        name: "greet",
        description: "Greets",
        arguments: [{ name: "name", required: true }, { name: "tone" }],
      },
    ]);
    const got = (await wire.request("prompts/get", { name: "greet", arguments: { name: "Ada" } })).result;
    expect(got).toMatchObject({
      description: "Greets",
      messages: [{ role: "user", content: { type: "text", text: "Greet Ada" } }],
    });
    expect((await wire.request("prompts/get", { name: "greet" })).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('"name" is required'),
    });
    expect((await wire.request("prompts/get", { name: "gret" })).error.message).toContain(
      'did you mean "greet"',
    );
  });

  test("completes arguments, a hundred at most", async () => {
    const prompt = await wire.request("completion/complete", {
      ref: { type: "ref/prompt", name: "greet" },
      argument: { name: "tone", value: "w" },
      context: { arguments: { name: "arm" } },
    });
    expect(prompt.result.completion).toMatchObject({ total: 121, hasMore: true });
    expect(prompt.result.completion.values).toHaveLength(100);
    expect(prompt.result.completion.values[0]).toBe("warm");
    const template = await wire.request("completion/complete", {
      ref: { type: "ref/resource", uri: "test://user/{id}/notes" },
      argument: { name: "id", value: "al" },
    });
    expect(template.result.completion.values).toEqual(["alan"]);
    const unknown = await wire.request("completion/complete", {
      ref: { type: "ref/prompt", name: "greet" },
      argument: { name: "toString", value: "" },
    });
    expect(unknown.result.completion.values).toEqual([]);
  });

  test("says what it can do, by its era's method and no other", async () => {
    if (wire.era === "modern") {
      const { result } = await wire.request("server/discover");
      expect(result).toMatchObject({
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} },
        instructions: "Try each.",
      });
      for (const method of ["initialize", "ping", "logging/setLevel", "resources/subscribe"]) {
        expect((await wire.request(method)).error.code).toBe(-32601);
      }
    } else {
      expect((await wire.request("ping")).result).toEqual({});
      expect((await wire.request("server/discover")).error.code).toBe(-32601);
    }
  });

  test("answers many at once, each its own", async () => {
    const texts = Array.from({ length: 64 }, (_, index) => `n${index}`);
    const answers = await Promise.all(texts.map((text) => call("echo", { text })));
    expect(answers.map(({ result }) => result.content[0].text)).toEqual(texts);
  });
});

test("what a server has nothing of is not found", async () => {
  const empty = new McpServer({ name: "empty", version: "1" });
  const wire = await (WIRES[0] as (typeof WIRES)[0])[1](empty);
  for (const method of ["tools/list", "resources/list", "prompts/list", "completion/complete"]) {
    expect((await wire.request(method)).error.code).toBe(-32601);
  }
  await wire.close();
});

test("a definition that cannot work is refused when it is made", () => {
  const bad = new McpServer({ name: "bad", version: "1" });
  bad.tool("twice", {}, () => "");
  expect(() => bad.tool("twice", {}, () => "")).toThrow(/already.*twice/);
  expect(() => bad.tool("", {}, () => "")).toThrow(/1 to 128/);
  expect(() => bad.tool("scalar", { input: z.string() as never }, () => "")).toThrow(
    /scalar.*"type": "object"/,
  );
  expect(() => bad.tool("bare", { input: { city: z.string() } as never }, () => "")).toThrow(
    /wrap it: z.object\(\{ city/,
  );
  expect(() => bad.resource("relative", { name: "r" }, () => "")).toThrow(/absolute/);
  expect(() => bad.resourceTemplate("test://{a}{b}", { name: "t" }, () => "")).toThrow(/between/);
  expect(() => bad.resourceTemplate("test://{?q}", { name: "t" }, () => "")).toThrow(/not supported/);
  expect(() => bad.prompt("p", { complete: { x: () => [] } }, () => "")).toThrow(/no argument "x"/);
  expect(() => new McpServer({ name: "bad", version: "1" }, { pageSize: 0 })).toThrow(/pageSize/);
});
