/** One trace from the question to the server: the turn, what the model is asked, and the calls, each in the one before. */

import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { connect } from "@patchbay/client";
import { telemetry as clientTelemetry } from "@patchbay/client/telemetry";
import { telemetry as serverTelemetry } from "@patchbay/server/telemetry";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { chooseModel, createHost } from "../src/index.ts";
import { telemetry } from "../src/telemetry.ts";
import { type ProviderWire, type Reply, serveProvider } from "./provider-wire.ts";
import { calculator } from "./servers.ts";

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
let wire: ProviderWire | undefined;

beforeAll(() => {
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});
afterEach(async () => {
  await wire?.close();
  exporter.reset();
});
afterAll(async () => {
  await provider.shutdown();
  trace.disable();
  context.disable();
  propagation.disable();
});

async function hostOf(script: Reply[]) {
  wire = await serveProvider("openai", script);
  const env = { OPENAI_API_KEY: "k", BASE_URL: wire.baseUrl, MODEL_MAX_RETRIES: "0" };
  const server = calculator().use(serverTelemetry());
  return createHost({
    model: await chooseModel(env),
    clients: { calculator: await connect(server, { middleware: [clientTelemetry()] }) },
    onApproval: () => "once",
    telemetry: telemetry(),
  });
}

const QUESTION = "what are one and two?";
const named = (name: string): ReadableSpan => {
  const found = exporter.getFinishedSpans().find((span) => span.name === name);
  if (found === undefined)
    throw new Error(`no span ${name}: ${exporter.getFinishedSpans().map((each) => each.name)}`);
  return found;
};

test("a turn, its replies and its calls are one trace, and none says what was said", async () => {
  const host = await hostOf([{ calls: [{ name: "add", args: { a: 1, b: 2 } }] }, { text: "three" }]);
  const conversation = host.conversation();
  await conversation.ask(QUESTION);
  await host.close();
  const turn = named("invoke_agent host_agent");
  expect(turn.attributes).toEqual({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "host_agent",
    "gen_ai.conversation.id": conversation.id,
  });
  const { spanId, traceId } = turn.spanContext();
  const replies = exporter.getFinishedSpans().filter(({ name }) => name.startsWith("chat "));
  expect(replies).toHaveLength(2);
  for (const reply of replies) {
    expect(reply.parentSpanContext?.spanId).toBe(spanId);
    expect(reply.attributes).toMatchObject({ "gen_ai.provider.name": "openai" });
  }
  const calls = exporter.getFinishedSpans().filter(({ name }) => name === "tools/call add");
  expect(calls).toHaveLength(2);
  for (const call of calls) expect(call.spanContext().traceId).toBe(traceId);
  expect(calls.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toContain(spanId);
  const all = JSON.stringify(
    exporter.getFinishedSpans().map(({ name, attributes }) => ({ name, attributes })),
  );
  expect(all).not.toContain(QUESTION);
  expect(all).not.toContain("three");
});

test("what fails says of which kind it is", async () => {
  const host = await hostOf([{ status: 401 }]);
  await expect(host.ask(QUESTION)).rejects.toThrow();
  await host.close();
  expect(named("invoke_agent host_agent").attributes["error.type"]).toBe("model");
});
