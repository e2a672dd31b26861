/** What stands around requests: middleware, telemetry, methods of one's own, and what is offered to some only. */

import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { McpServer, ProtocolError } from "../src/index.ts";
import { telemetry } from "../src/telemetry.ts";
import { type Json, WIRES, type Wire } from "./wire.ts";

const wires = WIRES.filter(([name]) => /memory|HTTP/.test(name) && /2026-07-28|2025-11-25/.test(name));

describe.each(wires)("%s", (_name, open) => {
  test("middleware sees each request and its reply, first added outermost", async () => {
    const seen: string[] = [];
    const server = new McpServer({ name: "m", version: "1" }, { onError: () => {} })
      .tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => text)
      .use(async ({ method, exchange }, next) => {
        seen.push(`> ${method} ${exchange.revision}`);
        const reply = await next();
        seen.push(`< ${method} ${"content" in reply ? "content" : "other"}`);
        return reply;
      })
      .use(({ method, params }, next) => {
        if (params.name === "forbidden") throw new ProtocolError(-31_000, "Not for you", { why: "test" });
        if (params.name === "other") return { content: [{ type: "text", text: `instead of ${method}` }] };
        return next();
      });
    const wire = await open(server);
    seen.length = 0;
    expect(
      (await wire.request("tools/call", { name: "echo", arguments: { text: "hi" } })).result.content[0].text,
    ).toBe("hi");
    expect((await wire.request("tools/list")).result.tools).toHaveLength(1);
    expect((await wire.request("tools/call", { name: "other" })).result.content[0].text).toBe(
      "instead of tools/call",
    );
    expect((await wire.request("tools/call", { name: "forbidden" })).error).toEqual({
      code: -31_000,
      message: "Not for you",
      data: { why: "test" },
    });
    expect(seen).toEqual([
      `> tools/call ${wire.revision}`,
      "< tools/call content",
      `> tools/list ${wire.revision}`,
      "< tools/list other",
      `> tools/call ${wire.revision}`,
      "< tools/call content",
      `> tools/call ${wire.revision}`,
    ]);
    await wire.close();
  });

  test("middleware may refuse a session", async () => {
    const server = new McpServer({ name: "m", version: "1" })
      .tool("t", {}, () => "")
      .use(({ method, exchange }, next) => {
        if (method === "initialize" || exchange.revision >= "2026-07-28")
          throw new ProtocolError(-31_001, "Closed");
        return next();
      });
    const wire = await open(server);
    const { error } = await wire.request("tools/list");
    expect([-31_001, -32_600, -32_602]).toContain(error.code);
    await wire.close();
  });

  test("a handler behind middleware may ask its client", async () => {
    let passes = 0;
    const server = new McpServer({ name: "m", version: "1" })
      .tool("asks", {}, async (_args, ctx) =>
        JSON.stringify(await ctx.elicit("?", z.object({ a: z.string() }))),
      )
      .use((_request, next) => {
        passes++;
        return next();
      });
    const wire = await open(server);
    passes = 0;
    wire.onAsked = () => ({ action: "accept", content: { a: "b" } });
    const { result } = await wire.converse("tools/call", { name: "asks" });
    expect(JSON.parse(result.content[0].text)).toEqual({ action: "accept", content: { a: "b" } });
    expect(passes).toBe(wire.era === "modern" ? 2 : 1);
    await wire.close();
  });

  test("methods of one's own, and capabilities that go with them", async () => {
    const server = new McpServer(
      { name: "m", version: "1" },
      { extensions: { "com.example/search": { depth: 2 } }, experimental: { odd: {} } },
    ).method("example/search", ({ query }, ctx) => ({ found: [`${query} in ${ctx.revision}`] }));
    expect(() => server.method("example/search", () => ({}))).toThrow(/already/);
    const wire = await open(server);
    expect((await wire.request("example/search", { query: "q" })).result.found).toEqual([
      `q in ${wire.revision}`,
    ]);
    expect(server.capabilities).toMatchObject({
      extensions: { "com.example/search": { depth: 2 } },
      experimental: { odd: {} },
    });
    await wire.close();
  });

  test("what is offered to some is not there for others", async () => {
    const mine = ({ client }: { client: { info: { name: string } | undefined } }) =>
      client.info?.name === "test";
    const server = new McpServer({ name: "m", version: "1" }, { pageSize: 2 })
      .tool("all", {}, () => "")
      .tool("mine", { enabled: mine }, () => "yes")
      .tool("others", { enabled: (exchange) => !mine(exchange) }, () => "no")
      .tool("last", {}, () => "")
      .resource("test://others", { name: "r", enabled: (exchange) => !mine(exchange) }, () => "")
      .resourceTemplate("test://t/{a}", { name: "t", enabled: (exchange) => !mine(exchange) }, () => "")
      .prompt("others", { enabled: (exchange) => !mine(exchange) }, () => "");
    const wire = await open(server);
    const first = (await wire.request("tools/list")).result;
    expect(first.tools.map((tool: Json) => tool.name)).toEqual(["all", "mine"]);
    const second = (await wire.request("tools/list", { cursor: first.nextCursor })).result;
    expect(second.tools.map((tool: Json) => tool.name)).toEqual(["last"]);
    if (wire.era === "modern") expect(first.cacheScope).toBe("private");
    expect((await wire.request("tools/call", { name: "mine" })).result.content[0].text).toBe("yes");
    const refused = await wire.request("tools/call", { name: "others" });
    expect(refused.error).toMatchObject({ code: -32602, message: "Unknown tool: others" });
    expect((await wire.request("resources/list")).result.resources).toEqual([]);
    expect((await wire.request("resources/read", { uri: "test://others" })).error).toBeDefined();
    expect((await wire.request("resources/read", { uri: "test://t/1" })).error).toBeDefined();
    expect((await wire.request("prompts/get", { name: "others" })).error).toBeDefined();
    const hidden = ["test://others", "test://t/1"];
    if (wire.era === "legacy") {
      for (const uri of hidden) {
        const { error } = await wire.request("resources/subscribe", { uri });
        expect(error).toMatchObject({ code: -32002, data: { uri } });
      }
      expect((await wire.request("resources/subscribe", { uri: "test://none" })).result).toEqual({});
    } else {
      const notifications = { resourceSubscriptions: [...hidden, "test://none"] };
      wire.request("subscriptions/listen", { notifications }, "watch").catch(() => {});
      const acknowledged = await wire.notification(({ method }) => method.endsWith("acknowledged"));
      expect(acknowledged.params.notifications).toEqual({ resourceSubscriptions: ["test://none"] });
    }
    await wire.close();
  });
});

describe("telemetry", () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  beforeAll(() => {
    trace.setGlobalTracerProvider(provider);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  });
  afterAll(async () => {
    await provider.shutdown();
    trace.disable();
    context.disable();
    propagation.disable();
  });

  test("makes a span of each request, in the trace that its _meta carries", async () => {
    const server = new McpServer({ name: "t", version: "1" }, { onError: () => {} })
      .tool("echo", {}, () => trace.getActiveSpan()?.spanContext().traceId ?? "none")
      .tool("fails", {}, () => {
        throw new Error("no");
      })
      .use(telemetry());
    const wire: Wire = await (WIRES[0] as (typeof WIRES)[0])[1](server);
    exporter.reset();
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const _meta = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    expect((await wire.request("tools/call", { name: "echo", _meta })).result.content[0].text).toBe(traceId);
    await wire.request("tools/call", { name: "fails" });
    await wire.request("tools/call", { name: "unknown", _meta: { traceparent: "nonsense" } });
    await wire.request("tools/list");
    const spans = exporter.getFinishedSpans().map((span) => ({
      name: span.name,
      trace: span.spanContext().traceId === traceId,
      error: span.attributes["error.type"],
      tool: span.attributes["gen_ai.tool.name"],
      code: span.attributes["rpc.response.status_code"],
    }));
    expect(spans).toEqual([
      { name: "tools/call echo", trace: true, error: undefined, tool: "echo", code: undefined },
      { name: "tools/call fails", trace: false, error: "tool_error", tool: "fails", code: undefined },
      { name: "tools/call unknown", trace: false, error: "ProtocolError", tool: "unknown", code: "-32602" },
      { name: "tools/list", trace: false, error: undefined, tool: undefined, code: undefined },
    ]);
    await wire.close();
  });
});
