/** A turn is recorded as it happens, without secrets, and replayed by the real loop: the same, or it says where not. */

import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@patchbay/client";
import { McpServer } from "@patchbay/server";
import { afterEach, describe, expect, test } from "vitest";
import { chooseModel, createHost, type HostEvent, type Question } from "../src/index.ts";
import {
  createRecorder,
  parseRecording,
  type RecorderOptions,
  readRecording,
  recordingFile,
  replay,
} from "../src/recording/index.ts";
import { type ProviderWire, type Reply, serveProvider } from "./provider-wire.ts";
import { calculator } from "./servers.ts";

const KEY = "sk-not-for-anybodys-eyes";
const SCRIPT: Reply[] = [
  {
    calls: [
      { id: "call_1", name: "add", args: { a: 1, b: 2 } },
      { id: "call_2", name: "book", args: { seats: 2 } },
    ],
  },
  { text: "3, and two seats in row 7" },
];

let wire: ProviderWire | undefined;
afterEach(async () => {
  await wire?.close();
  wire = undefined;
});

/** Asks which row, and says what it was told. */
function theatre(): McpServer {
  const server = new McpServer({ name: "theatre", version: "1.0.0" });
  server.tool(
    "book",
    { input: { type: "object", properties: { seats: { type: "integer" } } } },
    async ({ seats }, ctx) => {
      const answer = await ctx.elicit("Which row?", {
        type: "object",
        properties: { row: { type: "integer" } },
        required: ["row"],
      });
      return `${seats} in row ${answer.action === "accept" ? answer.content.row : "?"}, with ${KEY}`;
    },
  );
  return server;
}

type Era = "modern" | "legacy";

/** One turn, recorded. */
async function recorded(
  era: Era,
  options: RecorderOptions = {},
  script = SCRIPT,
  question: Question = "1 + 2, and two seats",
) {
  wire = await serveProvider("openai", script);
  const recorder = createRecorder({ redact: (text) => text.replaceAll(KEY, "[key]"), ...options });
  const model = await chooseModel({ OPENAI_API_KEY: KEY, BASE_URL: wire.baseUrl, MODEL_MAX_RETRIES: "0" });
  const host = createHost({
    model: recorder.model(model),
    onApproval: () => "once",
    onElicit: () => ({ action: "accept", content: { row: 7 } }),
  });
  for (const [name, server] of Object.entries({ calculator: calculator(), theatre: theatre() })) {
    const client = await connect(server, {
      era,
      ...host.connectOptions(name),
      onMessage: recorder.watch(name),
    });
    host.add(name, client);
  }
  const lines: string[] = [];
  const turn = recorder.begin(question, { write: (line) => void lines.push(line) });
  const events: HostEvent[] = [];
  const onEvent = (event: HostEvent) => {
    events.push(event);
    turn.event(event);
  };
  let lost: Error | undefined;
  const answer = await host.ask(question, { onEvent }).then(
    (given) => {
      lost = turn.end();
      return given.text;
    },
    (thrown: Error) => {
      lost = turn.end(thrown);
      return thrown.message;
    },
  );
  await host.close();
  return { text: lines.join(""), answer, events, lost };
}

describe.each(["modern", "legacy"] as const)("a turn with %s servers", (era) => {
  test("is kept whole, and no key with it", async () => {
    const { text } = await recorded(era);
    expect(text).not.toContain(KEY);
    const { head, entries } = parseRecording(text);
    expect(head).toMatchObject({ model: { provider: "openai" }, servers: ["calculator", "theatre"] });
    const told = entries.map((entry) =>
      entry.type === "message"
        ? `${entry.server} ${entry.direction} ${entry.message.method ?? "answer"}`
        : entry.type === "event"
          ? entry.event.type
          : entry.type,
    );
    for (const each of [
      "question",
      "model_request",
      "model_reply",
      "calculator sent tools/list",
      "calculator sent tools/call",
      "calculator received notifications/progress",
      "theatre sent tools/call",
      "tool_end",
      "approval",
      "answer",
    ])
      expect(told).toContain(each);
    // What opened the connections was before the question.
    expect(entries[0]).toMatchObject({ type: "message", direction: "sent" });
    expect(entries[0]?.at).toBeLessThan(0);
    const reply = entries.find((entry) => entry.type === "model_reply");
    expect(reply).toMatchObject({ message: { toolCalls: [{ name: "add" }, { name: "book" }] }, ok: true });
  });

  test("happens again: without the model, the servers or the user", async () => {
    const { text, answer } = await recorded(era);
    await wire?.close();
    wire = undefined;
    const events: HostEvent[] = [];
    const again = await replay(parseRecording(text), { onEvent: (event) => void events.push(event) });
    expect(again).toMatchObject({ failure: undefined, differences: [], answer: { text: answer } });
    expect(events.some(({ type }) => type === "tool_progress")).toBe(true);
  });

  test("that goes another way says where", async () => {
    const { text } = await recorded(era);
    const other = await replay(parseRecording(text.replaceAll("2 in row 7", "2 in row 9")));
    expect(other.differences).toEqual([]);
    const entries = text.split("\n");
    const result = entries.findLastIndex((line) => /"received".*row 7/.test(line));
    entries[result] = (entries[result] as string).replaceAll("row 7", "row 9");
    const { differences } = await replay(parseRecording(entries.join("\n")));
    expect(differences.join("\n")).toMatch(/model is sent something else.*row 9/);
    expect(differences.join("\n")).toMatch(/new now: theatre\/book .*row 9/);
  });

  test("that failed fails again", async () => {
    const { text, answer } = await recorded(era, {}, [SCRIPT[0] as Reply, { status: 401 }]);
    const again = await replay(parseRecording(text));
    expect(again).toEqual({ answer: undefined, failure: answer, differences: [] });
  });
});

test("a question with what a server adds to it is kept whole, and asked so again", async () => {
  const question: Question = [
    { role: "user", content: [{ type: "text", text: "Sum this up." }] },
    {
      role: "user",
      content: [{ type: "resource", resource: { uri: "note://1", text: "Nine is three times three." } }],
      server: "notes",
      name: "note://1",
    },
  ];
  const { text } = await recorded("modern", {}, [{ text: "9 = 3 × 3" }], question);
  const recording = parseRecording(text);
  expect(recording.entries.find(({ type }) => type === "question")).toMatchObject({
    text: "Sum this up.",
    messages: question,
  });
  expect(await replay(recording)).toMatchObject({ answer: { text: "9 = 3 × 3" }, differences: [] });
});

test("nothing more is kept beyond maxRecordingBytes, and the turn goes on", async () => {
  const { text, answer, lost } = await recorded("modern", { maxRecordingBytes: 3000 });
  expect(answer).toBe("3, and two seats in row 7");
  expect(lost?.message).toContain("maxRecordingBytes (3000)");
  expect(parseRecording(text).entries.at(-1)).toMatchObject({ type: "truncated", limit: 3000 });
});

test("a secret is no key of an object either", () => {
  const lines: string[] = [];
  const recorder = createRecorder({ redact: (text) => text.replaceAll(KEY, "[key]") });
  const watch = recorder.watch("s");
  recorder.begin("?", { write: (line) => void lines.push(line) });
  watch({ direction: "received", text: JSON.stringify({ result: { [KEY]: [{ [`a ${KEY}`]: 1 }] } }) });
  expect(lines.join("")).not.toContain(KEY);
  expect(parseRecording(lines.join("")).entries.at(-1)).toMatchObject({
    message: { result: { "[key]": [{ "a [key]": 1 }] } },
  });
});

test("a file of its own for each turn, which only its user may read", async () => {
  const folder = mkdtempSync(join(tmpdir(), "patchbay-recordings-"));
  const { text } = await recorded("modern");
  const now = new Date();
  const [first, second] = [recordingFile(join(folder, "new"), now), recordingFile(join(folder, "new"), now)];
  first.write(text);
  first.close();
  second.close();
  expect(first.path).not.toBe(second.path);
  expect(statSync(first.path).mode & 0o777).toBe(0o600);
  expect(readFileSync(first.path, "utf8")).toBe(text);
  expect((await readRecording(first.path)).head.servers).toHaveLength(2);
  await expect(readRecording(second.path)).rejects.toThrow(/cannot be read: this is no recording/);
  if (process.platform !== "win32")
    await expect(readRecording("/dev/zero")).rejects.toThrow("it is no regular file");
  await expect(readRecording(join(folder, "none"))).rejects.toThrow("there is no such file");
  rmSync(folder, { recursive: true });
});

const HEAD =
  '{"type":"recording","version":1,"model":{"provider":"openai","name":"x","label":"x"},"servers":["s"]}\n';

test.each([
  ["", "this is no recording"],
  ["nonsense\n", "line 1 is not JSON"],
  ['{"type":"recording","version":2}\n', "version 2"],
  ['{"type":"recording","version":1}\n', "which model and servers"],
  [HEAD.replace("openai", "constructor"), "which model and servers"],
  [`${HEAD}{"at":1}\n`, "line 2"],
  ...[
    { type: "constructor" },
    { type: "question" },
    { type: "message", server: "s", direction: "sent" },
    { type: "message", server: "s", direction: "up", message: {} },
    { type: "event", event: null },
    { type: "event", event: { type: "approval" } },
    { type: "event", event: { type: "tool_end" } },
    { type: "model_request", request: 1, messages: [null] },
    { type: "model_reply", request: 1 },
    { type: "model_reply", request: 1, message: { role: "assistant", content: "", toolCalls: [{}] } },
  ].map(
    (entry) => [`${HEAD}${JSON.stringify({ at: 1, ...entry })}\n`, "line 2 is no part"] as [string, string],
  ),
])("%j is refused in words", (text, words) => {
  expect(() => parseRecording(text)).toThrow(words);
});

test("a last line that a crash cut off is left out", () => {
  const cut = `${HEAD}{"at":1,"type":"question","text":"hi"}\n{"at":2,"ty`;
  expect(parseRecording(cut).entries).toHaveLength(1);
});
