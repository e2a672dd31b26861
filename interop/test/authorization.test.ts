/** Our client logs in to a protected server of the official SDK, at the SDK's own authorization server. */

import { fileURLToPath } from "node:url";
import { connect } from "@patchbay/client";
import { login, memoryStore, whoami } from "@patchbay/client/oauth";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Attendance, takeAttendance } from "../processes/attendance.ts";
import { type HttpServerProcess, startHttpServer } from "../processes/http-server.ts";

/** A file of servers/. */
const SERVER = "protected-sdk-v1";

let attendance: Attendance;
let server: HttpServerProcess;

beforeAll(async () => {
  attendance = await takeAttendance();
  const file = fileURLToPath(new URL(`../servers/${SERVER}.mjs`, import.meta.url));
  server = await startHttpServer([file], attendance.env);
});

afterAll(async () => {
  await server.stop();
  await attendance.close();
});

/** The SDK's provider asks nobody. */
async function onAuthorize(url: string): Promise<string> {
  const response = await fetch(url, { redirect: "manual" });
  return response.headers.get("location") ?? "";
}

test("a connection logs in when it is refused, and its calls go through", async () => {
  const store = memoryStore();
  const client = await connect(server.url, { auth: { store, onAuthorize } });
  try {
    expect(client.revision).toBe("2025-11-25");
    expect((await client.callTool("who")).content).toEqual([{ type: "text", text: "mcp:tools" }]);
    const issuer = `${new URL(server.url).origin}/`;
    expect(await whoami(server.url, store)).toMatchObject({
      issuer,
      resource: server.url,
      scopes: ["mcp:tools"],
    });
  } finally {
    await client.close();
  }
});

test("a login beforehand serves connections that ask nobody", async () => {
  const store = memoryStore();
  await login(server.url, { store, onAuthorize });
  const client = await connect(server.url, { auth: { store } });
  expect(await client.listTools()).toMatchObject([{ name: "who" }]);
  await client.close();
});
