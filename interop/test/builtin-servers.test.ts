/** The official SDKs' clients with the servers that come with Patchbay, served by the command as users do. */

import { fileURLToPath } from "node:url";
import type { LogMessage } from "@patchbay/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Connect, PeerClient } from "../clients/peer-client.ts";
import { sdkV1 } from "../clients/sdk-v1.ts";
import { sdkV2 } from "../clients/sdk-v2.ts";
import { type Attendance, takeAttendance } from "../processes/attendance.ts";
import { type HttpServerProcess, startHttpServer } from "../processes/http-server.ts";

const PATCHBAY = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));

const CLIENTS: { client: string; connect: Connect; revision: string }[] = [
  { client: "SDK v1", connect: sdkV1, revision: "2025-11-25" },
  { client: "SDK v2, legacy", connect: sdkV2("legacy"), revision: "2025-11-25" },
  { client: "SDK v2, auto", connect: sdkV2("auto"), revision: "2026-07-28" },
];
const CASES = CLIENTS.flatMap((row) =>
  (["stdio", "http"] as const).map((transport) => ({ ...row, transport })),
);

describe.each(CASES)("$client × patchbay serve, over $transport", ({ connect, revision, transport }) => {
  let attendance: Attendance;
  const running: HttpServerProcess[] = [];
  const clients: PeerClient[] = [];

  beforeAll(async () => {
    attendance = await takeAttendance();
  });

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(running.map((server) => server.stop()));
    await attendance.close();
  });

  async function open(name: string): Promise<PeerClient> {
    const args = [PATCHBAY, "serve", name];
    let client: PeerClient;
    if (transport === "http") {
      const server = await startHttpServer([...args, "--http", "0", "--json"], attendance.env);
      running.push(server);
      client = await connect({ url: server.url });
    } else {
      client = await connect({ command: process.execPath, args, env: { ...attendance.env } });
    }
    clients.push(client);
    return client;
  }

  test("calculator", async () => {
    const client = await open("calculator");
    const result = await client.callTool("calculator", { expression: "564*34+12.4/455**2" });
    expect(result.isError ?? false).toBe(false);
    expect(result.content).toMatchObject([
      { type: "text", text: expect.stringContaining("19176.0000598961") },
    ]);
    expect((await client.callTool("calculator", { expression: "1/0" })).isError).toBe(true);
  });

  test("everything", async () => {
    const client = await open("everything");
    const seen = await client.callTool("who_am_i");
    expect(seen.structuredContent).toMatchObject({ name: expect.stringMatching(/^sdk-v/), revision });

    const tools = await client.listTools();
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    const resources = await client.listResources();
    expect(resources.filter(({ uri }) => uri.startsWith("everything://number/"))).toHaveLength(120);
    expect((await client.resourcePage()).nextCursor).toBeDefined();

    const counted = await client.callTool("count_words", { text: "one two\nthree" });
    expect(counted.structuredContent).toEqual({ words: 3, characters: 13, lines: 2 });
    for (const schema of ["schema_draft_07", "schema_2020_12"]) {
      const fits = await client.callTool(schema, { pair: ["a", 1] });
      expect(fits.content).toEqual([{ type: "text", text: '["a",1]' }]);
      expect((await client.callTool(schema, { pair: ["a", -1] })).isError).toBe(true);
    }
    const blocks = await client.callTool("test_multiple_content_types");
    expect(blocks.content.map(({ type }) => type)).toEqual(["text", "image", "resource"]);
    expect((await client.callTool("fail", { message: "so it is" })).content).toEqual([
      { type: "text", text: "so it is" },
    ]);

    const city = await client.readResource("everything://city/japan/Kyoto");
    expect(city.contents).toMatchObject([{ text: '{"country":"japan","city":"Kyoto"}' }]);
    const plan = await client.getPrompt("plan_trip", { country: "japan", city: "Kyoto" });
    expect(plan.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    const suggested = await client.complete({
      ref: { type: "ref/prompt", name: "plan_trip" },
      argument: { name: "city", value: "" },
      context: { arguments: { country: "france" } },
    });
    expect(suggested.completion.values).toEqual(["Lyon", "Marseille", "Paris"]);

    const logs: LogMessage[] = [];
    await client.listenToLogs("critical", (message) => logs.push(message));
    await client.callTool("log", { message: "hear" });
    expect(logs.map(({ level }) => level)).toEqual(["critical", "alert", "emergency"]);
  });

  test("all close, and leave no process behind", async () => {
    expect(attendance.pids.length).toBeGreaterThanOrEqual(2);
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(running.map((server) => server.stop()));
    await attendance.allLeft();
  });
});
