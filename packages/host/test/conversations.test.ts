/** One question that takes two servers and three calls: over each transport, with each provider, and again from recordings. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connect, type Target } from "@patchbay/client";
import { chooseModel, createHost } from "@patchbay/host";
import { createRecorder, parseRecording, replay } from "@patchbay/host/recording";
import { afterEach, describe, expect, test } from "vitest";
import type { Protocol } from "./provider-rules.ts";
import { type Reply, serveProvider } from "./provider-wire.ts";

const HERE = import.meta.dirname;
const RECORDINGS = join(HERE, "recordings");
/** Each provider and each transport once. `UPDATE_RECORDINGS=1` writes them anew. */
const KEPT = [
  "openai-stdio.jsonl",
  "anthropic-http-sse.jsonl",
  "gemini-streamable-http.jsonl",
  "deepseek-stdio.jsonl",
];
const SERVERS = ["sums", "weather"];
const QUESTION = "How much warmer is Rome than Oslo?";
const ANSWER = "Rome is 13 degrees warmer.";
const SCRIPT: Reply[] = [
  {
    calls: [
      { id: "call_rome", name: "get_weather", args: { city: "Rome" } },
      { id: "call_oslo", name: "get_weather", args: { city: "Oslo" } },
    ],
  },
  { text: "I work it out. ", calls: [{ id: "call_sum", name: "subtract", args: { a: 17, b: 4 } }] },
  { text: ANSWER },
];
const PROVIDERS: [provider: string, protocol: Protocol, key: string][] = [
  ["openai", "openai", "OPENAI_API_KEY"],
  ["deepseek", "deepseek", "DEEPSEEK_API_KEY"],
  ["anthropic", "anthropic", "ANTHROPIC_API_KEY"],
  ["gemini", "gemini", "GEMINI_API_KEY"],
];
const TRANSPORTS = ["stdio", "HTTP+SSE", "Streamable HTTP"] as const;
type Transport = (typeof TRANSPORTS)[number];

const processes: ChildProcess[] = [];
afterEach(async () => {
  for (const child of processes.splice(0)) {
    child.stdin?.end();
    if (child.exitCode === null) await once(child, "exit");
  }
});

async function targetOf(server: string, transport: Transport): Promise<Target> {
  const file = join(HERE, "fixtures/city.mjs");
  if (transport === "stdio") return { command: process.execPath, args: [file, server, "stdio"] };
  const child = spawn(process.execPath, [file, server, "http"], { stdio: ["pipe", "pipe", "inherit"] });
  processes.push(child);
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return transport === "HTTP+SSE" ? url.replace("/mcp", "/sse") : url;
}

/** Asks the question; gives what was answered, the calls that were made, and the recording. */
async function asked([provider, protocol, key]: (typeof PROVIDERS)[number], transport: Transport) {
  const wire = await serveProvider(protocol, SCRIPT);
  const recorder = createRecorder();
  const env = { MODEL_PROVIDER: provider, [key]: "a-key", BASE_URL: wire.baseUrl, MODEL_MAX_RETRIES: "0" };
  const host = createHost({ model: recorder.model(await chooseModel(env)) });
  for (const server of SERVERS) {
    const options = { ...host.connectOptions(server), onMessage: recorder.watch(server) };
    host.add(server, await connect(await targetOf(server, transport), options));
  }
  const lines: string[] = [];
  const turn = recorder.begin(QUESTION, { write: (line) => void lines.push(line) });
  const calls: string[] = [];
  const answer = await host.ask(QUESTION, {
    onEvent: (event) => {
      turn.event(event);
      if (event.type === "tool_end") calls.push(`${event.server}/${event.tool}: ${event.text}`);
    },
  });
  turn.end();
  await host.close();
  await wire.close();
  return { answer: answer.text, calls: calls.sort(), recording: lines.join("") };
}

const CALLS = ["sums/subtract: 13", "weather/get_weather: Oslo: 4 °C", "weather/get_weather: Rome: 17 °C"];

describe.each(TRANSPORTS)("over %s", (transport) => {
  test.each(PROVIDERS)("with %s", async (...provider) => {
    const { answer, calls, recording } = await asked(provider, transport);
    expect(answer).toBe(ANSWER);
    expect(calls).toEqual(CALLS);
    const name = `${provider[0]}-${transport.toLowerCase().replaceAll(/\W+/g, "-")}.jsonl`;
    if (process.env.UPDATE_RECORDINGS === "1" && KEPT.includes(name))
      writeFileSync(join(RECORDINGS, name), recording);
    expect((await replay(parseRecording(recording))).differences).toEqual([]);
  });
});

describe("as it was recorded", () => {
  test.each(KEPT)("%s", async (name) => {
    const text = readFileSync(join(RECORDINGS, name), "utf8");
    expect(await replay(parseRecording(text))).toMatchObject({
      answer: { text: ANSWER },
      failure: undefined,
      differences: [],
    });
  });
});
