/** One body of tests over every pair of a client and a server, on every transport. */

import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { LogMessage, Progress } from "@patchbay/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { changes } from "../bodies/changes.ts";
import { questions } from "../bodies/questions.ts";
import { patchbay } from "../clients/patchbay.ts";
import type { Answers, Connect, PeerClient } from "../clients/peer-client.ts";
import { sdkV1 } from "../clients/sdk-v1.ts";
import { sdkV2 } from "../clients/sdk-v2.ts";
import { type Attendance, exists, takeAttendance } from "../processes/attendance.ts";
import { type HttpServerProcess, startHttpServer } from "../processes/http-server.ts";

const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";

interface Pair {
  client: string;
  connect: Connect;
  /** A file of servers/. */
  server: "patchbay" | "sdk-v1" | "sdk-v2";
  /** What they agree on. */
  revision: string;
}

const PAIRS: Pair[] = [
  { client: "SDK v1", connect: sdkV1, server: "patchbay", revision: LEGACY },
  { client: "SDK v2, legacy", connect: sdkV2("legacy"), server: "patchbay", revision: LEGACY },
  { client: "SDK v2, auto", connect: sdkV2("auto"), server: "patchbay", revision: MODERN },
  { client: "SDK v2, pinned", connect: sdkV2({ pin: MODERN }), server: "patchbay", revision: MODERN },
  { client: "Patchbay, auto", connect: patchbay("auto"), server: "sdk-v1", revision: LEGACY },
  { client: "Patchbay, auto", connect: patchbay("auto"), server: "sdk-v2", revision: MODERN },
  { client: "Patchbay, modern", connect: patchbay("modern"), server: "sdk-v2", revision: MODERN },
  { client: "Patchbay, legacy", connect: patchbay("legacy"), server: "sdk-v2", revision: LEGACY },
  { client: "Patchbay, auto", connect: patchbay("auto"), server: "patchbay", revision: MODERN },
];
const BOTH = ["stdio", "http"] as const;
/** With HTTP+SSE, which the SDK's v2 server does not have, and a modern client would not look for. */
const ALL = [...BOTH, "sse"] as const;
const CASES = PAIRS.flatMap((pair) => {
  const old = pair.server === "sdk-v1" || (pair.client.startsWith("SDK") && pair.revision === LEGACY);
  return (old ? ALL : BOTH).map((transport) => ({ ...pair, transport }));
});

describe.each(CASES)("$client × $server over $transport ($revision)", (pair) => {
  const { connect, server, revision, transport } = pair;
  const modern = revision === MODERN;
  let attendance: Attendance;
  let http: HttpServerProcess | undefined;
  let client: PeerClient;
  const answers: Answers = {
    elicit: () => ({ action: "cancel" }),
    sample: () => {
      throw new Error("Not expected");
    },
    roots: [],
  };

  beforeAll(async () => {
    attendance = await takeAttendance();
    const file = fileURLToPath(new URL(`../servers/${server}.mjs`, import.meta.url));
    if (transport === "stdio") {
      const env = { ...attendance.env };
      client = await connect({ command: process.execPath, args: [file, transport], env }, answers);
    } else {
      http = await startHttpServer([file, transport], attendance.env);
      client = await connect({ url: http.url, sse: transport === "sse" }, answers);
    }
  });

  afterAll(async () => {
    await client?.close();
    await http?.stop();
    await attendance.close();
  });

  test("agrees on the revision, and learns who the server is", async () => {
    expect(client.revision).toBe(revision);
    expect(client.server).toMatchObject({ name: "interop", version: "1.2.3" });
    expect(client.instructions).toBe("Ask for nothing that is not listed.");
    expect(Object.keys(client.capabilities ?? {})).toEqual(
      expect.arrayContaining(["tools", "resources", "prompts", "completions", "logging"]),
    );
    await client.ping();
  });

  test("lists the tools with their schemas", async () => {
    const tools = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names.slice(0, 9)).toEqual([
      "echo",
      "add",
      "blocks",
      "fail",
      "count",
      "heard",
      "log",
      "hang",
      "stopped",
    ]);
    expect(new Set(names).size).toBe(names.length);
    expect(tools[0]).toMatchObject({ description: "Says it again", inputSchema: { required: ["text"] } });
    expect(tools[1]).toMatchObject({
      title: "Addition",
      annotations: { readOnlyHint: true },
      inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
      outputSchema: { type: "object", properties: { sum: { type: "number" } } },
    });
  });

  test("lists the resources page by page", async () => {
    const uris = [1, 2, 3, 4, 5].map((number) => `note:///${number}`).concat("note:///blob");
    const first = await client.resourcePage();
    expect(first.resources.map(({ uri }) => uri)).toEqual(uris.slice(0, 2));
    const second = await client.resourcePage(first.nextCursor);
    expect(second.resources.map(({ uri }) => uri)).toEqual(uris.slice(2, 4));
    const last = await client.resourcePage(second.nextCursor);
    expect(last.resources.map(({ uri }) => uri)).toEqual(uris.slice(4));
    expect(last.nextCursor).toBeUndefined();

    const all = await client.listResources();
    expect(all.map(({ uri }) => uri)).toEqual(uris);
    expect(all[0]).toMatchObject({ name: "note-1", mimeType: "text/plain" });
    await expect(client.resourcePage("nowhere")).rejects.toMatchObject({ code: -32602 });
  });

  test("lists the resource templates and the prompts", async () => {
    expect(await client.listResourceTemplates()).toMatchObject([
      { name: "greeting", uriTemplate: "greeting:///{name}" },
    ]);
    expect(await client.listPrompts()).toMatchObject([
      {
        name: "brief",
        description: "A brief about something",
        arguments: [{ name: "topic", required: true }, { name: "tone" }],
      },
    ]);
  });

  test("calls tools: text, structured content, every kind of block", async () => {
    const text = "line one\nline two, \u2028 and a snowman \u2603 \ud83d\ude80";
    const echoed = await client.callTool("echo", { text });
    expect(echoed.content).toEqual([{ type: "text", text }]);
    expect(echoed.isError ?? false).toBe(false);

    const added = await client.callTool("add", { a: 2, b: 0.5 });
    expect(added.structuredContent).toEqual({ sum: 2.5 });
    expect(added.content).toEqual([{ type: "text", text: '{"sum":2.5}' }]);

    const { content } = await client.callTool("blocks");
    expect(content.map(({ type }) => type)).toEqual(["text", "image", "audio", "resource_link", "resource"]);
    expect(content[1]).toMatchObject({
      mimeType: "image/png",
      data: expect.stringMatching(/^iVBORw0KGgo/),
    });
    expect(content[4]).toMatchObject({ resource: { uri: "note:///1", text: "This is note 1" } });
  });

  test("carries a megabyte each way", async () => {
    const text = "0123456789abcdef".repeat(65_536);
    expect((await client.callTool("echo", { text })).content).toEqual([{ type: "text", text }]);
  });

  test("answers many calls at once, each with its own result", async () => {
    const sums = await Promise.all(
      Array.from(
        { length: 50 },
        async (_, a) => (await client.callTool("add", { a, b: 1 })).structuredContent,
      ),
    );
    expect(sums).toEqual(Array.from({ length: 50 }, (_, a) => ({ sum: a + 1 })));
  });

  test("tells a tool's failure and wrong arguments as results", async () => {
    const failed = await client.callTool("fail");
    expect(failed.isError).toBe(true);
    expect(failed.content).toEqual([{ type: "text", text: "it broke, as it was asked to" }]);

    const refused = await client.callTool("add", { a: 1, b: "two" });
    expect(refused.isError).toBe(true);
    expect(refused.content).toMatchObject([{ type: "text", text: expect.stringMatching(/\bb\b/) }]);
  });

  test("refuses an unknown tool", async () => {
    const called = client.callTool("ecko", { text: "" });
    // The SDK v1 server tells it as a result.
    if (server === "sdk-v1") expect((await called).isError).toBe(true);
    else
      await expect(called).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining("ecko"),
      });
  });

  test("reads resources: text, bytes, by template", async () => {
    expect(await client.readResource("note:///3")).toMatchObject({
      contents: [{ uri: "note:///3", mimeType: "text/plain", text: "This is note 3" }],
    });
    expect(await client.readResource("note:///blob")).toMatchObject({
      contents: [{ mimeType: "application/octet-stream", blob: "AAH+/w==" }],
    });
    expect(await client.readResource("greeting:///Ada")).toMatchObject({
      contents: [{ uri: "greeting:///Ada", text: "Hello, Ada!" }],
    });
  });

  test("refuses an unknown resource", async () => {
    // -32002 up to 2025-11-25; the SDK servers send -32602 all the same, and the SDK v2 client makes it of it.
    const code = server === "patchbay" && pair.client === "SDK v1" ? -32002 : -32602;
    await expect(client.readResource("note:///99")).rejects.toMatchObject({ code });
  });

  test("gets a prompt, and is told what is wrong with a request for one", async () => {
    const prompt = await client.getPrompt("brief", { topic: "tea", tone: "playful" });
    expect(prompt.messages).toEqual([
      { role: "user", content: { type: "text", text: "Write a playful brief about tea" } },
    ]);
    await expect(client.getPrompt("brief", {})).rejects.toMatchObject({ code: -32602 });
    await expect(client.getPrompt("long", {})).rejects.toMatchObject({ code: -32602 });
  });

  test("completes arguments of prompts and templates", async () => {
    const tone = await client.complete({
      ref: { type: "ref/prompt", name: "brief" },
      argument: { name: "tone", value: "pl" },
    });
    expect(tone.completion).toMatchObject({ values: ["plain", "playful"], total: 2, hasMore: false });
    const name = await client.complete({
      ref: { type: "ref/resource", uri: "greeting:///{name}" },
      argument: { name: "name", value: "G" },
    });
    expect(name.completion.values).toEqual(["Grace"]);
  });

  test("hears of progress while the call is under way", async () => {
    const key = randomUUID();
    const heard: Progress[] = [];
    const replies: Promise<unknown>[] = [];
    // Each step waits until we have heard of the one before.
    const onProgress = (step: Progress) => {
      heard.push(step);
      replies.push(client.callTool("heard", { key, step: step.progress }));
    };
    const result = await client.callTool("count", { to: 3, key }, { onProgress });
    expect(result.content).toEqual([{ type: "text", text: "counted to 3" }]);
    expect(heard).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })));
    await Promise.all(replies);
  });

  test("hears of logs from its level up", async () => {
    const heard: LogMessage[] = [];
    await client.listenToLogs("debug", (message) => heard.push(message));
    await client.callTool("log");
    expect(heard).toMatchObject([
      { level: "debug", data: "too quiet" },
      { level: "warning", logger: "interop", data: { loud: true } },
    ]);
    heard.length = 0;
    await client.listenToLogs("info", (message) => heard.push(message));
    await client.callTool("log");
    expect(heard.map(({ level }) => level)).toEqual(["warning"]);
  });

  test("cancels a call, and the server stops working on it", async () => {
    const key = randomUUID();
    const cancel = new AbortController();
    const call = client.callTool(
      "hang",
      { key },
      { signal: cancel.signal, onProgress: () => cancel.abort(new Error("changed my mind")) },
    );
    await expect(call).rejects.toThrow("changed my mind");
    expect((await client.callTool("stopped", { key })).content).toEqual([{ type: "text", text: "stopped" }]);
  });

  const circumstances = { client: pair.client, server, transport, modern };
  const connected = () => ({
    client,
    answers,
    connectMute: () => connect({ url: http?.url ?? "", sse: transport === "sse" }),
    stopServer: async () => http?.stop(),
  });
  questions(circumstances, connected);
  changes(circumstances, connected);

  test("closes, and leaves no process behind", async () => {
    expect(attendance.pids).not.toEqual([]);
    await client.close();
    if (transport === "stdio" && pair.client.startsWith("Patchbay")) {
      // Ours says that nothing is left when it resolves.
      expect(attendance.pids.filter(exists)).toEqual([]);
    }
    await http?.stop();
    await attendance.allLeft();
  });
});
