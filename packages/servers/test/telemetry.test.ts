/** A client's spans and a server's, in one trace: the two know nothing of each other but what is in `_meta`. */

import { context, propagation, SpanKind, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { connect } from "@patchbay/client";
import { telemetry as clientTelemetry } from "@patchbay/client/telemetry";
import { McpServer } from "@patchbay/server";
import { serveHttp } from "@patchbay/server/http";
import { telemetry as serverTelemetry } from "@patchbay/server/telemetry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";

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

test.each(["modern", "legacy"] as const)("over HTTP, %s", async (era) => {
  const server = new McpServer({ name: "t", version: "1" }).use(serverTelemetry());
  server.tool("asks", {}, async (_args, ctx) => {
    const answer = await ctx.elicit("?", z.object({ a: z.string() }));
    return answer.action;
  });
  const running = await serveHttp(server, { port: 0 });
  const client = await connect(running.url, {
    era,
    middleware: [clientTelemetry()],
    onElicit: () => ({ action: "accept", content: { a: "b" } }),
  });
  exporter.reset();
  await trace.getTracer("test").startActiveSpan("agent", async (agent) => {
    await client.callTool("asks");
    agent.end();
  });
  await client.close();
  await running.close();
  const spans = exporter.getFinishedSpans().filter(({ name }) => name === "tools/call asks");
  const agent = exporter
    .getFinishedSpans()
    .find(({ name }) => name === "agent")
    ?.spanContext();
  const sent = spans.filter(({ kind }) => kind === SpanKind.CLIENT);
  const served = spans.filter(({ kind }) => kind === SpanKind.SERVER);
  // A question is a round of its own in the modern era.
  expect(sent).toHaveLength(era === "modern" ? 2 : 1);
  expect(served.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(
    sent.map((span) => span.spanContext().spanId),
  );
  for (const span of spans) expect(span.spanContext().traceId).toBe(agent?.traceId);
  for (const { parentSpanContext } of sent) expect(parentSpanContext?.spanId).toBe(agent?.spanId);
});
