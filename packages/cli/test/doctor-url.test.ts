/** `doctor <url>`: each step on the way to a server, failing, and all of them well. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileStore, login } from "@patchbay/client/oauth";
import { McpServer } from "@patchbay/server";
import { hashKey, staticKeys } from "@patchbay/server/auth";
import { serveHttp } from "@patchbay/server/http";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  agreeing,
  authorizationSite,
  json,
  protectedSite,
  site,
  stage,
} from "../../client/test/oauth/world.ts";
import { run } from "./patchbay.ts";
import { workplace } from "./workplace.ts";

// Each test starts a process; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

const place = workplace();
const { world, closes } = stage();
afterEach(() => vi.restoreAllMocks());

interface Step {
  step: string;
  state: string;
  found: string;
  remedy?: string;
}

async function doctor(url: string, ...options: string[]) {
  const { code, stdout } = await run(["doctor", url, "--json", ...options], { cwd: place.cwd });
  const report = JSON.parse(stdout) as { ok: boolean; server: string; steps: Step[] };
  expect(report.steps.map(({ step }) => step)).toEqual([
    "reach",
    "discovery",
    "registration",
    "login",
    "call",
  ]);
  const failed = report.steps.find(({ state }) => state === "failed");
  const after = failed === undefined ? [] : report.steps.slice(report.steps.indexOf(failed) + 1);
  expect(after.every(({ state, found }) => state === "skipped" && found === "not tried")).toBe(true);
  expect(report.ok).toBe(code === 0);
  return { code, failed, report };
}

/** Logs in as the command would have. */
async function loggedIn(url: string): Promise<void> {
  const store = fileStore({ path: join(place.cwd, "patchbay", "credentials.json") });
  await login(url, { store, onAuthorize: agreeing });
}

describe("doctor <url>", () => {
  it.each([
    ["nothing listens there", async () => "http://127.0.0.1:9/mcp", /host and the port/],
    [
      "another thing is there",
      async () => {
        const page = await site(async () => json({ hello: "world" }, 404));
        closes(page.close);
        return `${page.origin}/other`;
      },
      /check the path/,
    ],
    [
      "it does not take our host name",
      async () => {
        const server = new McpServer({ name: "picky", version: "1" });
        const serving = await serveHttp(server, { port: 0, allowedHosts: ["mcp.example"] });
        closes(() => serving.close());
        return serving.url;
      },
      /allowedHosts/,
    ],
  ])("ends with 3 at the first step where %s", async (_what, target, remedy) => {
    const { code, failed } = await doctor(await target());
    expect([code, failed?.step]).toEqual([3, "reach"]);
    expect(failed?.remedy).toMatch(remedy);
  });

  it("has nothing to do with logins where none is asked for", async () => {
    const server = new McpServer({ name: "open", version: "1" });
    server.tool("look", {}, () => "looked");
    const serving = await serveHttp(server, { port: 0 });
    closes(() => serving.close());
    const { code, report } = await doctor(serving.url);
    expect(code).toBe(0);
    expect(report.steps.map(({ state }) => state)).toEqual(["ok", "skipped", "skipped", "skipped", "ok"]);
    expect(report.steps.at(-1)?.found).toContain("lists 1 tools");
  });

  it.each([
    [{ metadata: { issuer: "https://other.example" } }, {}, /is the metadata of/, /mend its metadata/],
    [
      {},
      {
        metadata: () => ({ resource: "https://other.example", authorization_servers: ["https://x.example"] }),
      },
      /another resource/,
      /by the URL that clients use/,
    ],
    [
      {},
      {
        metadata: (origin: string) => ({
          resource: `${origin}/mcp`,
          authorization_servers: ["http://127.0.0.1:9"],
        }),
      },
      /could not be reached/,
      /authorization server runs/,
    ],
    [
      {},
      {
        metadata: (origin: string) => ({
          resource: `${origin}/mcp`,
          authorization_servers: [`${origin}/none`],
        }),
      },
      /There is no metadata/,
      /publish it/,
    ],
  ])("says what is wrong with the metadata (%#)", async (authorizing, protection, why, remedy) => {
    const { server } = await world(authorizing, protection);
    const { code, failed } = await doctor(server.url);
    expect([code, failed?.step]).toEqual([1, "discovery"]);
    expect(failed?.found).toMatch(why);
    expect(failed?.remedy).toMatch(remedy);
  });

  it("says that a client has to be registered where nobody may by themselves, and takes one that is", async () => {
    const { authorization, server } = await world({
      metadata: { registration_endpoint: undefined as never },
    });
    const { code, failed } = await doctor(server.url);
    expect([code, failed?.step]).toEqual([1, "registration"]);
    expect(failed?.remedy).toContain(
      `patchbay login ${server.url} --client-id <id> --issuer ${authorization.origin}`,
    );
    const known = await doctor(server.url, "--client-id", "mine");
    expect(known.failed?.step).toBe("login");
    expect(known.report.steps[2]?.found).toContain("the client id mine");
  });

  it("says that nobody is logged in, and registers nowhere", async () => {
    const { authorization, server } = await world();
    const { code, failed, report } = await doctor(server.url);
    expect([code, failed?.step, failed?.remedy]).toEqual([1, "login", `patchbay login ${server.url}`]);
    expect(report.steps[2]?.found).toContain("nothing was registered now");
    expect(authorization.heard.map(({ path }) => path)).not.toContain("/register");
  });

  it("says that nobody could log in safely", async () => {
    const { server } = await world({ metadata: { code_challenge_methods_supported: ["plain"] } });
    const { failed } = await doctor(server.url);
    expect([failed?.step, failed?.found]).toEqual(["login", expect.stringContaining("PKCE with S256")]);
  });

  it("says that a login has ended, or is one at somebody else", async () => {
    const { authorization, server } = await world({ expiresIn: 1 });
    await loggedIn(server.url);
    const store = fileStore({ path: join(place.cwd, "patchbay", "credentials.json") });
    const grant = await store.get("grant", server.url);
    if (grant === undefined) throw new Error("nothing is kept");
    const { refreshToken: _, ...rest } = grant;
    await store.set("grant", server.url, { ...rest, expiresAt: Date.now() - 1 });
    const ended = await doctor(server.url);
    expect([ended.failed?.step, ended.failed?.found]).toEqual([
      "login",
      expect.stringContaining("cannot be refreshed"),
    ]);
    await store.set("grant", server.url, { ...grant, issuer: "https://before.example" });
    const moved = await doctor(server.url);
    expect(moved.failed?.found).toContain(`${authorization.origin} authorizes now`);
  });

  it("says that the server does not take what the login gave, and how to get other", async () => {
    const authorization = await authorizationSite();
    closes(authorization.close);
    const server = await protectedSite(authorization, { takes: () => undefined });
    closes(server.close);
    await loggedIn(server.url);
    const { code, failed } = await doctor(server.url);
    expect([code, failed?.step, failed?.remedy]).toEqual([1, "call", `patchbay login ${server.url}`]);
  });

  it("shows all that is well, and no secret", async () => {
    const { authorization, server } = await world();
    await loggedIn(server.url);
    const registered = authorization.heard.filter(({ path }) => path === "/register").length;
    const { code, stdout } = await run(["doctor", server.url], { cwd: place.cwd });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^✓ reach .*\n✓ discovery .*\n✓ registration .*already\n✓ login .*\n✓ call .*1 tools\n$/,
    );
    for (const secret of [...authorization.tokens.keys(), ...authorization.refreshTokens.keys()])
      expect(stdout).not.toContain(secret);
    expect(authorization.heard.filter(({ path }) => path === "/register")).toHaveLength(registered);
  });

  it("says that a key is needed where nothing says who gives tokens", async () => {
    const server = new McpServer({ name: "keyed", version: "1" });
    const verify = staticKeys([{ hash: await hashKey("k".repeat(32)), subject: "ann" }]);
    const serving = await serveHttp(server, { port: 0, auth: { verify } });
    closes(() => serving.close());
    const { code, failed, report } = await doctor(serving.url);
    expect([code, failed?.step, failed?.remedy]).toEqual([1, "login", expect.stringContaining("a key")]);
    expect(report.steps.map(({ state }) => state)).toEqual(["ok", "ok", "skipped", "failed", "skipped"]);
    const login = await run(["login", serving.url, "--no-browser"], { cwd: place.cwd });
    expect([login.code, login.stderr]).toEqual([
      3,
      expect.stringContaining("send that in the Authorization"),
    ]);
  });

  it("looks at one without logins as at any other", async () => {
    const { code, stdout } = await run(["doctor", "calculator"], { cwd: place.cwd });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/✓ calculator: .*\nok\n$/)]);
    const server = new McpServer({ name: "keyed", version: "1" });
    const verify = staticKeys([{ hash: await hashKey("k".repeat(32)), subject: "ann" }]);
    const serving = await serveHttp(server, { port: 0, auth: { verify } });
    closes(() => serving.close());
    const entry = { url: serving.url, headers: { Authorization: "Bearer wrong" } };
    const config = join(place.cwd, "keyed.json");
    writeFileSync(config, JSON.stringify({ mcpServers: { keyed: entry } }));
    const refused = await run(["doctor", "keyed", "--config", config], { cwd: place.cwd });
    expect([refused.code, refused.stdout]).toEqual([
      1,
      expect.stringContaining("The Authorization header of its entry was not taken"),
    ]);
  });
});
