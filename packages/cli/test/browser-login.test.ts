/** A whole login in a real browser, at a real authorization server: by the command, and by `connect`. */

import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "@patchbay/client";
import { browser, logout, memoryStore, whoami } from "@patchbay/client/oauth";
import { McpServer } from "@patchbay/server";
import { jwtVerifier, RefusedTokenError } from "@patchbay/server/auth";
import { httpHandler } from "@patchbay/server/http";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { type RealProvider, realProvider } from "../../client/test/oauth/provider.ts";
import { startChromium, type Visited } from "./chromium.ts";
import { begin, emptyFolder, run } from "./patchbay.ts";

// Several processes and a browser; a busy machine takes its time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

interface Protected {
  url: string;
  /** The tokens that it was sent and took. */
  taken: string[];
  /** From now on it does not take the last one. */
  revokeLast(): void;
  close(): Promise<void>;
}

/** Our server. Its URL is what its tokens are for, so it has to be known before. */
async function protectedServer({ issuer }: RealProvider): Promise<Protected> {
  const mcp = new McpServer({ name: "protected", version: "1.0.0" });
  mcp.tool("who", {}, (_, { auth }) => `${auth?.subject}`);
  mcp.tool("change", { scopes: ["read", "write"] }, (_, { auth }) => `${auth?.subject} changed it`);
  let handler: ReturnType<typeof httpHandler> | undefined;
  const http = createServer((request, response) => handler?.(request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const jwt = jwtVerifier({ issuer, audience: url, type: "at+jwt" });
  const taken: string[] = [];
  const revoked = new Set<string>();
  handler = httpHandler(mcp, "127.0.0.1", {
    auth: {
      verify: {
        ...jwt,
        rememberMs: 0,
        async verify(token, signal) {
          if (revoked.has(token)) throw new RefusedTokenError("it was revoked");
          const verified = await jwt.verify(token, signal);
          taken.push(token);
          return verified;
        },
      },
      scopes: ["read"],
    },
  });
  return {
    url,
    taken,
    revokeLast: () => void revoked.add(taken.at(-1) ?? ""),
    close: () =>
      new Promise((resolve) => {
        handler?.close();
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}

needs("chromium")("a user with a browser", () => {
  let chromium: Awaited<ReturnType<typeof startChromium>>;
  let provider: RealProvider;
  let server: Protected;
  let cwd: string;
  beforeAll(async () => {
    cwd = emptyFolder();
    chromium = await startChromium();
    provider = await realProvider();
    server = await protectedServer(provider);
  });
  afterAll(async () => {
    await chromium.close();
    await server.close();
    await provider.close();
    rmSync(cwd, { recursive: true });
  });

  /** How often a path of the authorization server was asked for. */
  const asked = (path: string) => provider.paths.filter((each) => each === path).length;

  it("logs in by the command, calls, is refreshed, is allowed more, and logs out", async () => {
    const ann = await chromium.user("ann");
    async function login(...words: string[]): Promise<Visited> {
      const { said, ended } = begin(["login", server.url, "--no-browser", ...words], { cwd });
      const [, page = ""] = await said("stderr", /^ {2}(http:\S+)$/m);
      const visited = await ann.visit(page);
      expect(await ended).toMatchObject({ code: 0, stdout: `Logged in to ${server.url} as ann.\n` });
      return visited;
    }
    const call = (tool: string) => run(["call", server.url, tool], { cwd });

    const first = await login("--scope", "openid read");
    expect(asked("/.well-known/oauth-authorization-server")).toBeGreaterThan(0);
    expect([asked("/reg"), asked("/token")]).toEqual([1, 1]);
    expect(first.prompts).toEqual(["login", "consent"]);
    expect(first.agreed).toContain("read");
    expect(first.agreed).not.toContain("write");
    expect(first.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback\?code=/);
    expect(first.text).toContain("You can close this window");
    expect(await call("who")).toMatchObject({ code: 0, stdout: "ann\n" });

    server.revokeLast();
    const before = server.taken.at(-1);
    expect(await call("who")).toMatchObject({ code: 0, stdout: "ann\n" });
    expect(server.taken.at(-1)).not.toBe(before);
    expect(asked("/token")).toBe(2);

    const refused = await call("change");
    expect(refused.code).toBe(3);
    // What it says to do is done.
    const [, scopes = ""] = /patchbay login http:\S+ --scope "([^"]+)"/.exec(refused.stderr) ?? [];
    expect(scopes.split(" ")).toEqual(expect.arrayContaining(["openid", "read", "write"]));
    const more = await login("--scope", scopes);
    // The browser knows its user still; what is new has to be agreed to.
    expect(more.prompts).toEqual(["consent"]);
    expect(more.agreed).toContain("write");
    expect(await call("change")).toMatchObject({ code: 0, stdout: "ann changed it\n" });

    expect(await run(["logout", server.url], { cwd })).toMatchObject({ code: 0 });
    expect(asked("/token/revocation")).toBeGreaterThan(0);
    expect(await call("who")).toMatchObject({ code: 3, stderr: expect.stringContaining("patchbay login") });
    await ann.close();
  });

  it("logs in by a connection, calls, is refreshed, is allowed more, and logs out", async () => {
    const bob = await chromium.user("bob");
    const store = memoryStore();
    const visits: Visited[] = [];
    const open = async (url: string) => void visits.push(await bob.visit(url));
    const [registrations, tokens] = [asked("/reg"), asked("/token")];
    const client = await connect(server.url, { auth: { store, browser: browser({ open }) } });
    try {
      expect([asked("/reg"), asked("/token")]).toEqual([registrations + 1, tokens + 1]);
      expect((await client.callTool("who")).content).toEqual([{ type: "text", text: "bob" }]);

      server.revokeLast();
      const before = server.taken.at(-1);
      await client.callTool("who");
      expect(server.taken.at(-1)).not.toBe(before);
      expect(visits).toHaveLength(1);

      expect((await client.callTool("change")).content).toEqual([{ type: "text", text: "bob changed it" }]);
      expect(visits.map(({ prompts }) => prompts)).toEqual([["login", "consent"], ["consent"]]);
      expect((await whoami(server.url, store))?.scopes).toEqual(expect.arrayContaining(["read", "write"]));

      expect(await logout(server.url, { store })).toEqual({ revoked: true });
      expect(await whoami(server.url, store)).toBeUndefined();
    } finally {
      await client.close();
      await bob.close();
    }
  });
});
