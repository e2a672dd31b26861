/** Middleware around each request, and the spans that telemetry makes of them. */

import { context, propagation, SpanKind, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { type JsonObject, ProtocolError } from "@patchbay/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type Middleware } from "../src/index.ts";
import { telemetry } from "../src/telemetry.ts";
import { LEGACY, MODERN, type Script, scripted } from "./scripted.ts";

const TEXT = { content: [{ type: "text", text: "done" }] };
const TOOLS: Script = {
  "tools/call": ({ params }) => {
    if (params.name === "unknown") throw { code: -32602, message: "Unknown tool" };
    return params.name === "fails" ? { ...TEXT, isError: true } : TEXT;
  },
  "tools/list": () => ({ tools: [] }),
};
const metaOf = (message: JsonObject | undefined) => (message?.params as JsonObject)?._meta as JsonObject;

describe.each([
  ["legacy", { ...LEGACY, ...TOOLS }],
  ["modern", { ...MODERN, ...TOOLS }],
] as const)("middleware, %s", (era, script) => {
  test("sees each request and its result, first given outermost, those that connect too", async () => {
    const seen: string[] = [];
    const outer: Middleware = async ({ method, params, revision, server }, next) => {
      seen.push(`> ${method} ${JSON.stringify(params.arguments ?? null)} ${revision} ${server}`);
      const result = await next();
      seen.push(`< ${method}`);
      return result;
    };
    const inner: Middleware = ({ method }, next) => {
      seen.push(`= ${method}`);
      return next();
    };
    const client = await connect(scripted(script), { era, middleware: [outer, inner] });
    const opening = era === "legacy" ? "initialize" : "server/discover";
    expect(seen.map((line) => line.split(" ", 2).join(" "))).toEqual([
      `> ${opening}`,
      `= ${opening}`,
      `< ${opening}`,
    ]);
    seen.length = 0;
    await client.callTool("a", { b: 1 });
    expect(seen).toEqual([
      `> tools/call {"b":1} ${client.revision} the server in this process`,
      "= tools/call",
      "< tools/call",
    ]);
  });

  test("may add to _meta, but not what the protocol puts there", async () => {
    const server = scripted(script);
    const add: Middleware = ({ meta, params }, next) => {
      meta["a/b"] = 1;
      meta["io.modelcontextprotocol/protocolVersion"] = "mine";
      meta.progressToken = "mine";
      params.name = "other";
      return next();
    };
    const client = await connect(server, { era, middleware: [add] });
    await client.request("tools/call", { name: "a", arguments: {}, _meta: { "c/d": 2 } });
    const sent = server.received.at(-1);
    expect(sent?.params).toMatchObject({ name: "a", _meta: { "a/b": 1, "c/d": 2 } });
    expect(metaOf(sent)["io.modelcontextprotocol/protocolVersion"]).toBe(
      era === "legacy" ? undefined : "2026-07-28",
    );
    expect(metaOf(sent)).not.toHaveProperty("progressToken");
  });

  test("may refuse, answer by itself, and send again", async () => {
    const server = scripted(script);
    const guard: Middleware = async ({ method, params }, next) => {
      if (params.name === "forbidden") throw new ProtocolError(-31_000, "Not for you");
      if (params.name === "cached") return { content: [{ type: "text", text: "from here" }] };
      if (method !== "tools/call") return next();
      return next().catch(next);
    };
    const client = await connect(server, { era, middleware: [guard] });
    await expect(client.callTool("forbidden")).rejects.toMatchObject({ code: -31_000 });
    expect((await client.callTool("cached")).content).toEqual([{ type: "text", text: "from here" }]);
    expect(server.received.filter(({ method }) => method === "tools/call")).toHaveLength(0);
    await expect(client.callTool("unknown")).rejects.toMatchObject({ code: -32602 });
    expect(server.received.filter(({ method }) => method === "tools/call")).toHaveLength(2);
  });

  test("that waits does not send what was cancelled meanwhile", async () => {
    const server = scripted(script);
    const stop = new AbortController();
    const slow: Middleware = async ({ method, signal }, next) => {
      if (method === "tools/call") stop.abort(new Error("Enough"));
      if (method === "tools/call") expect(signal?.aborted).toBe(true);
      return next();
    };
    const client = await connect(server, { era, middleware: [slow] });
    await expect(client.callTool("a", {}, { signal: stop.signal })).rejects.toThrow("Enough");
    expect(server.received.map(({ method }) => method)).not.toContain("tools/call");
  });
});

describe("telemetry", () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  beforeAll(() => {
    trace.setGlobalTracerProvider(provider);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(
      new CompositePropagator({
        propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
      }),
    );
  });
  afterAll(async () => {
    await provider.shutdown();
    trace.disable();
    context.disable();
    propagation.disable();
  });

  test("makes a span of each request, and sends its context and baggage along", async () => {
    const server = scripted({ ...MODERN, ...TOOLS });
    const client = await connect(server, { middleware: [telemetry()] });
    exporter.reset();
    const baggage = propagation.createBaggage({ tenant: { value: "acme" } });
    await context.with(propagation.setBaggage(context.active(), baggage), () =>
      trace.getTracer("test").startActiveSpan("parent", async (parent) => {
        await client.callTool("a");
        parent.end();
      }),
    );
    const [span, parent] = exporter.getFinishedSpans();
    const { traceId, spanId } = span?.spanContext() ?? {};
    expect(metaOf(server.received.at(-1))).toMatchObject({
      traceparent: `00-${traceId}-${spanId}-01`,
      baggage: "tenant=acme",
    });
    expect(span?.parentSpanContext?.spanId).toBe(parent?.spanContext().spanId);
    expect(span).toMatchObject({
      name: "tools/call a",
      kind: SpanKind.CLIENT,
      attributes: {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": "2026-07-28",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "a",
      },
    });
  });

  test("says what failed", async () => {
    const client = await connect(scripted({ ...LEGACY, ...TOOLS }), { middleware: [telemetry()] });
    exporter.reset();
    await client.callTool("fails");
    await client.callTool("unknown").catch(() => {});
    await client.listTools();
    expect(
      exporter.getFinishedSpans().map(({ name, attributes, status }) => ({
        name,
        error: attributes["error.type"],
        code: attributes["rpc.response.status_code"],
        status: status.code,
      })),
    ).toEqual([
      { name: "tools/call fails", error: "tool_error", code: undefined, status: 2 },
      { name: "tools/call unknown", error: "ProtocolError", code: "-32602", status: 2 },
      { name: "tools/list", error: undefined, code: undefined, status: 0 },
    ]);
  });
});
