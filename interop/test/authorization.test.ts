/** Our client logs in to protected servers of the official SDKs: v1's own authorization server, and a real one for v2. */

import { fileURLToPath } from "node:url";
import { connect } from "@patchbay/client";
import { login, memoryStore, whoami } from "@patchbay/client/oauth";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserOf, type RealProvider, realProvider } from "../../packages/client/test/oauth/provider.ts";
import { type Attendance, takeAttendance } from "../processes/attendance.ts";
import { type HttpServerProcess, startHttpServer } from "../processes/http-server.ts";

let attendance: Attendance;
beforeAll(async () => {
  attendance = await takeAttendance();
});
afterAll(() => attendance.close());

/** @param name a file of servers/ */
function start(name: string, env: Record<string, string> = {}): Promise<HttpServerProcess> {
  const file = fileURLToPath(new URL(`../servers/${name}.mjs`, import.meta.url));
  return startHttpServer([file], { ...attendance.env, ...env });
}

describe("the SDK v1's protected server", () => {
  let server: HttpServerProcess;
  beforeAll(async () => {
    server = await start("protected-sdk-v1");
  });
  afterAll(() => server.stop());

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
});

describe("the SDK v2's protected server", () => {
  let provider: RealProvider;
  let server: HttpServerProcess;
  beforeAll(async () => {
    provider = await realProvider();
    server = await start("protected-sdk-v2", { ISSUER: provider.issuer });
  });
  afterAll(async () => {
    await server.stop();
    await provider.close();
  });

  test("a connection logs in when it is refused, and is allowed more where a tool needs it", async () => {
    const store = memoryStore();
    const pages: URL[] = [];
    const visit = browserOf("ann");
    const onAuthorize = (url: string) => {
      pages.push(new URL(url));
      return visit(url);
    };
    const client = await connect(server.url, { auth: { store, onAuthorize } });
    try {
      expect(client.revision).toBe("2026-07-28");
      expect((await client.callTool("who")).content).toEqual([{ type: "text", text: "who: read" }]);
      expect((await client.callTool("change")).content).toEqual([
        { type: "text", text: "change: read write" },
      ]);
      expect(pages.map(({ searchParams }) => searchParams.get("scope"))).toEqual([
        expect.stringMatching(/^read\b/),
        expect.stringMatching(/\bread\b.*\bwrite\b/),
      ]);
      expect(await whoami(server.url, store)).toMatchObject({
        issuer: provider.issuer,
        resource: server.url,
      });
    } finally {
      await client.close();
    }
  });

  test("a login beforehand serves connections that ask nobody", async () => {
    const store = memoryStore();
    await login(server.url, { store, onAuthorize: browserOf("bob") });
    const client = await connect(server.url, { auth: { store } });
    expect(await client.listTools()).toMatchObject([{ name: "who" }, { name: "change" }]);
    await client.close();
  });
});
