/** LangSmith by its own variables: a server on this machine receives the runs, and no key is among them. */

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { serveProvider } from "../../host/test/provider-wire.ts";
import { run } from "./patchbay.ts";
import { workplace } from "./workplace.ts";

// Each test starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

const place = workplace();
const received: { url: string; headers: IncomingHttpHeaders; body: string }[] = [];
const langSmith = createServer(async (request, response) => {
  const body = await text(request);
  const url = request.url ?? "";
  if (url !== "/info") received.push({ url, headers: request.headers, body });
  response.setHeader("content-type", "application/json");
  response.statusCode = url === "/info" ? 200 : 202;
  response.end(
    JSON.stringify(url === "/info" ? { batch_ingest_config: { use_multipart_endpoint: true } } : {}),
  );
});
beforeAll(async () => {
  langSmith.listen(0, "127.0.0.1");
  await once(langSmith, "listening");
});
afterAll(() => {
  langSmith.close();
  langSmith.closeAllConnections();
});
beforeEach(() => {
  received.length = 0;
});

const environment = () => ({
  LANGSMITH_TRACING: "true",
  LANGSMITH_ENDPOINT: `http://127.0.0.1:${(langSmith.address() as AddressInfo).port}`,
  LANGSMITH_API_KEY: "canary-of-langsmith",
  LANGSMITH_PROJECT: "a-project",
  TAVILY_API_KEY: "canary-of-tavily",
});

it("is sent the turn, its model and its tools before the command ends", async () => {
  const wire = await serveProvider("openai", [
    { calls: [{ name: "add", args: { a: 1, b: 2 } }] },
    { text: "It is 3." },
  ]);
  try {
    const env = {
      ...environment(),
      MODEL_PROVIDER: "openai",
      OPENAI_API_KEY: "canary-of-openai",
      BASE_URL: wire.baseUrl,
    };
    const { code, stdout } = await run(["ask", "What is 1 and 2?"], { cwd: place.cwd, env });
    expect([code, stdout]).toEqual([0, "It is 3.\n"]);
  } finally {
    await wire.close();
  }
  const all = received.map(({ body }) => body).join("\n");
  for (const part of [
    '"name":"host_agent"',
    '"name":"add"',
    '"run_type":"llm"',
    '"session_name":"a-project"',
  ])
    expect(all).toContain(part);
  expect(all).toContain("It is 3.");
  expect(all).not.toContain("canary");
  expect(new Set(received.map(({ headers }) => headers["x-api-key"]))).toEqual(
    new Set(["canary-of-langsmith"]),
  );
});

it("is sent nothing without its variables, nor by a folder's .env", async () => {
  const { LANGSMITH_TRACING: _, ...env } = environment();
  writeFileSync(join(place.cwd, ".env"), "LANGSMITH_TRACING=true\n");
  expect((await run(["ask", "1+1"], { cwd: place.cwd, env })).code).toBe(0);
  expect(received).toEqual([]);
});

it("holds no answer up where it is not there", async () => {
  const env = { ...environment(), LANGSMITH_ENDPOINT: "http://127.0.0.1:9" };
  const { code, stdout } = await run(["ask", "1+1"], { cwd: place.cwd, env });
  expect([code, stdout]).toEqual([0, "2\n"]);
});
