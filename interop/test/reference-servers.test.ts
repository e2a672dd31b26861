/** Patchbay's client with the reference servers from npm, as a user would start them. */

import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Change, type Client, type ConnectOptions, connect } from "@patchbay/client";
import type { LogMessage, Progress } from "@patchbay/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Attendance, exists, takeAttendance } from "../processes/attendance.ts";
import { type HttpServerProcess, startHttpServer } from "../processes/http-server.ts";

const INTEROP = fileURLToPath(new URL("..", import.meta.url));
const EVERYTHING = join(INTEROP, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const FILESYSTEM = join(INTEROP, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
const ANNOUNCE_PORT = fileURLToPath(new URL("../processes/announce-port.mjs", import.meta.url));

describe.each(["stdio", "http"] as const)("server-everything over %s", (transport) => {
  let attendance: Attendance;
  let http: HttpServerProcess | undefined;
  let client: Client;
  let onLog: (message: LogMessage) => void = () => {};

  beforeAll(async () => {
    attendance = await takeAttendance();
    const options: ConnectOptions = {
      // It keeps running when its stdin ends while it simulates logs, so each step of closing is taken.
      closeTimeout: 300,
      onLog: (message) => onLog(message),
      onElicit: ({ message }) =>
        message.startsWith("Please provide inputs")
          ? { action: "accept", content: { name: "Ada" } }
          : { action: "decline" },
      onSample: ({ messages }) => ({
        role: "assistant",
        model: "model-1",
        content: { type: "text", text: `heard ${messages.length}` },
      }),
      roots: [{ uri: "file:///seats", name: "Seats" }],
    };
    if (transport === "http") {
      const args = ["--import", ANNOUNCE_PORT, EVERYTHING, "streamableHttp"];
      http = await startHttpServer(args, { ...attendance.env, PORT: "0" });
      client = await connect(http.url, options);
    } else {
      const target = { command: process.execPath, args: [EVERYTHING, "stdio"], env: attendance.env };
      client = await connect(target, options);
    }
  });

  afterAll(async () => {
    await client?.close();
    await http?.stop();
    await attendance.close();
  });

  test("is found to be a legacy server", () => {
    expect(client).toMatchObject({ era: "legacy", revision: "2025-11-25" });
    expect(client.server).toMatchObject({ name: "mcp-servers/everything" });
    expect(client.instructions).toContain("Everything");
  });

  test("lists", async () => {
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["echo", "get-sum", "get-tiny-image", "trigger-long-running-operation"]),
    );
    expect(tools.find(({ name }) => name === "get-structured-content")).toMatchObject({
      inputSchema: { type: "object", properties: { location: { enum: expect.any(Array) } } },
      outputSchema: { type: "object", required: ["temperature", "conditions", "humidity"] },
    });
    expect((await client.listResources()).map(({ uri }) => uri)).toContain(
      "demo://resource/static/document/features.md",
    );
    expect((await client.listResourceTemplates()).map(({ uriTemplate }) => uriTemplate)).toEqual([
      "demo://resource/dynamic/text/{resourceId}",
      "demo://resource/dynamic/blob/{resourceId}",
    ]);
    expect((await client.listPrompts()).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["simple-prompt", "args-prompt", "completable-prompt", "resource-prompt"]),
    );
  });

  test("is called", async () => {
    const echoed = await client.callTool("echo", { message: "hi" });
    expect(echoed.content).toEqual([{ type: "text", text: "Echo: hi" }]);

    const weather = await client.callTool("get-structured-content", { location: "Chicago" });
    expect(weather.structuredContent).toEqual({
      temperature: 36,
      conditions: "Light rain / drizzle",
      humidity: 82,
    });

    const image = await client.callTool("get-tiny-image");
    expect(image.content[1]).toMatchObject({ type: "image", mimeType: "image/png" });

    const annotated = await client.callTool("get-annotated-message", { messageType: "error" });
    expect(annotated.content[0]).toMatchObject({
      annotations: { priority: 1, audience: ["user", "assistant"] },
    });

    const links = await client.callTool("get-resource-links", { count: 2 });
    expect(links.content.map(({ type }) => type)).toEqual(["text", "resource_link", "resource_link"]);

    const embedded = await client.callTool("get-resource-reference", { resourceType: "Blob", resourceId: 2 });
    expect(embedded.content).toContainEqual({
      type: "resource",
      resource: expect.objectContaining({ uri: "demo://resource/dynamic/blob/2", blob: expect.any(String) }),
    });
  });

  test("tells what is wrong with a call as a result", async () => {
    for (const [name, args] of [
      ["get-sum", { a: 1, b: "two" }],
      ["no-such-tool", {}],
    ] as const) {
      const result = await client.callTool(name, args);
      expect(result.isError).toBe(true);
      expect(result.content).toMatchObject([{ type: "text", text: expect.stringContaining("-32602") }]);
    }
  });

  test("is read, by URI and by template", async () => {
    const [document] = (await client.readResource("demo://resource/static/document/features.md")).contents;
    expect(document).toMatchObject({ mimeType: "text/markdown", text: expect.stringContaining("#") });
    const [blob] = (await client.readResource("demo://resource/dynamic/blob/7")).contents;
    expect(Buffer.from((blob as { blob: string }).blob, "base64").toString()).toMatch(/^Resource 7: /);
    await expect(client.readResource("demo://nowhere")).rejects.toMatchObject({ code: expect.any(Number) });
  });

  test("fills in prompts, and completes their arguments", async () => {
    const prompt = await client.getPrompt("args-prompt", { city: "Bern", state: "BE" });
    expect(prompt.messages).toEqual([
      { role: "user", content: { type: "text", text: "What's weather in Bern, BE?" } },
    ]);
    await expect(client.getPrompt("args-prompt", {})).rejects.toMatchObject({ code: -32602 });
    const { completion } = await client.complete({
      ref: { type: "ref/prompt", name: "completable-prompt" },
      argument: { name: "name", value: "A" },
      context: { arguments: { department: "Engineering" } },
    });
    expect(completion.values).toEqual(["Alice"]);
  });

  test("tells its progress", async () => {
    const heard: Progress[] = [];
    const result = await client.callTool(
      "trigger-long-running-operation",
      { duration: 0.1, steps: 4 },
      { onProgress: (progress) => heard.push(progress) },
    );
    expect(result.content).toMatchObject([{ text: expect.stringContaining("completed") }]);
    expect(heard).toEqual([1, 2, 3, 4].map((progress) => ({ progress, total: 4 })));
  });

  test("goes on serving after a call that was cancelled midway", async () => {
    const cancel = new AbortController();
    const reason = new Error("changed my mind");
    const call = client.callTool(
      "trigger-long-running-operation",
      { duration: 0.5, steps: 5 },
      { signal: cancel.signal, onProgress: () => cancel.abort(reason) },
    );
    await expect(call).rejects.toBe(reason);
    // It does not listen to the cancellation, and still tells the old call's progress during this one.
    await client.callTool("trigger-long-running-operation", { duration: 0.6, steps: 1 });
    expect((await client.callTool("echo", { message: "still here" })).isError ?? false).toBe(false);
  });

  test("asks the user, our model, and where it may work", async () => {
    const form = await client.callTool("trigger-elicitation-request");
    const raw = (form.content.at(-1) as { text: string }).text.replace("Raw result: ", "");
    expect(JSON.parse(raw)).toEqual({
      action: "accept",
      content: {
        name: "Ada",
        firstLine: "It was a dark and stormy night.",
        integer: 42,
        number: 3.14,
        untitledSingleSelectEnum: "Monica",
        untitledMultipleSelectEnum: ["Guitar"],
        titledSingleSelectEnum: "hero-1",
        titledMultipleSelectEnum: ["fish-1"],
        legacyTitledEnum: "pet-1",
      },
    });
    const sampled = await client.callTool("trigger-sampling-request", { prompt: "hi" });
    expect(sampled.content).toMatchObject([{ text: expect.stringMatching(/"text": "heard 1"/) }]);
    const roots = await client.callTool("get-roots-list");
    expect(roots.content).toMatchObject([{ text: expect.stringContaining("file:///seats") }]);
  });

  test("tells of a resource that we listen to", async () => {
    const uri = "demo://resource/static/document/features.md";
    const heard = new Promise<Change>((resolve) => {
      void client
        .listen({ resourceSubscriptions: [uri] }, resolve)
        .then(() => client.callTool("toggle-subscriber-updates"));
    });
    expect(await heard).toEqual({ kind: "resource", uri });
    await client.callTool("toggle-subscriber-updates");
  });

  test("logs", async () => {
    await client.setLogLevel("debug");
    const logged = new Promise<LogMessage>((resolve) => {
      onLog = ({ data, ...rest }) => {
        if (/^\w+[- ]level[- ]message/i.test(String(data))) resolve({ data, ...rest });
      };
    });
    await client.callTool("toggle-simulated-logging");
    expect(await logged).toMatchObject({ level: expect.any(String) });
  });

  test("closes, and leaves no process behind", async () => {
    expect(attendance.pids).not.toEqual([]);
    await client.close();
    if (transport === "stdio") expect(attendance.pids.filter(exists)).toEqual([]);
    await http?.stop();
    await attendance.allLeft();
  });
});

const FILESYSTEM_STARTS = [
  { how: "node", command: process.execPath, args: [FILESYSTEM] },
  // A wrapper: the server is its grandchild.
  { how: "npx", command: "npx", args: ["--no-install", "mcp-server-filesystem"] },
];

describe.each(FILESYSTEM_STARTS)("server-filesystem, started by $how", ({ how, command, args }) => {
  let attendance: Attendance;
  let client: Client;
  let folder: string;

  beforeAll(async () => {
    attendance = await takeAttendance();
    folder = await realpath(await mkdtemp(join(tmpdir(), "patchbay-interop-")));
    await writeFile(join(folder, "tea.txt"), "first leaf\nsecond leaf\n");
    await writeFile(join(folder, "dot.png"), Buffer.from("iVBORw0KGgo=", "base64"));
    client = await connect({ command, args: [...args, folder], env: attendance.env, cwd: INTEROP });
  });

  afterAll(async () => {
    await client?.close();
    await attendance.close();
    await rm(folder, { recursive: true });
  });

  test("lists its tools; what it does not have is empty", async () => {
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["read_text_file", "write_file", "list_directory", "search_files"]),
    );
    expect(tools.find(({ name }) => name === "read_text_file")?.annotations).toMatchObject({
      readOnlyHint: true,
    });
    expect(await client.listResources()).toEqual([]);
    expect(await client.listPrompts()).toEqual([]);
  });

  test("reads, writes and lists", async () => {
    const read = await client.callTool("read_text_file", { path: join(folder, "tea.txt"), head: 1 });
    expect(read.content).toEqual([{ type: "text", text: "first leaf" }]);
    expect(read.structuredContent).toEqual({ content: "first leaf" });
    const image = await client.callTool("read_media_file", { path: join(folder, "dot.png") });
    expect(image.content).toEqual([{ type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" }]);

    const written = await client.callTool("write_file", { path: join(folder, "new.txt"), content: "ü" });
    expect(written.isError ?? false).toBe(false);
    const listed = await client.callTool("list_directory", { path: folder });
    expect(listed.content).toMatchObject([{ text: expect.stringContaining("[FILE] new.txt") }]);
  });

  test("keeps to its folder, and says so", async () => {
    const refused = await client.callTool("read_text_file", { path: "/etc/passwd" });
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("Access denied") }],
    });
  });

  test("closes, and leaves no process behind", async () => {
    expect(attendance.pids.length).toBeGreaterThanOrEqual(how === "npx" ? 2 : 1);
    await client.close();
    expect(attendance.pids.filter(exists)).toEqual([]);
    await attendance.allLeft();
  });
});
