/** Logging in, being logged in, and logging out, each as a process of its own. */

import { chmodSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type AuthorizationSite,
  agreeing,
  authorizationSite,
  type ProtectedSite,
  protectedSite,
} from "../../client/test/oauth/world.ts";
import { begin, emptyFolder, run } from "./patchbay.ts";

// Each test starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

let cwd: string;
let authorization: AuthorizationSite;
let server: ProtectedSite;

beforeEach(async () => {
  cwd = emptyFolder();
  authorization = await authorizationSite();
  server = await protectedSite(authorization, { challenge: 'scope="read"' });
});

afterEach(async () => {
  await Promise.all([server.close(), authorization.close()]);
  rmSync(cwd, { recursive: true });
});

const patchbay = (...words: string[]) => run(words, { cwd });
const file = () => join(cwd, "patchbay", "credentials.json");

/** Logs in as a user with a browser would; gives what was said. */
async function login(...words: string[]) {
  const { ended, said } = begin(["login", server.url, "--no-browser", ...words], { cwd });
  const [, url = ""] = await said("stderr", /^ {2}(http:\S+)$/m);
  const back = await fetch(await agreeing(url));
  return { ...(await ended), page: await back.text(), status: back.status };
}

describe("login", () => {
  it("prints the page, hears the browser come back, and keeps what it got for this user alone", async () => {
    const { code, stdout, page, status } = await login();
    expect([code, stdout]).toEqual([0, `Logged in to ${server.url}.\n`]);
    expect([status, page]).toEqual([200, expect.stringContaining("You can close this window")]);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(authorization.logins()[0]?.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  });

  it("serves the commands after it, which ask nobody", async () => {
    await login();
    const { code, stdout } = await patchbay("call", server.url, "print");
    expect([code, stdout]).toEqual([0, "done\n"]);
    expect(authorization.logins()).toHaveLength(1);
  });

  it("that cannot be read is said to be, by whatever would use it", async () => {
    await login();
    chmodSync(file(), 0o644);
    const { code, stderr } = await patchbay("call", server.url, "print");
    expect([code, stderr]).toEqual([3, expect.stringContaining("others can get at it")]);
  });

  it("is refreshed by them", async () => {
    await login();
    authorization.tokens.clear();
    expect(await patchbay("call", server.url, "print")).toMatchObject({ code: 0, stdout: "done\n" });
    expect(authorization.grants().at(-1)?.get("grant_type")).toBe("refresh_token");
  });

  it("asks for the scopes that it is told to", async () => {
    const { stdout } = await login("--scope", "read write", "--json");
    expect(JSON.parse(stdout)).toEqual({
      account: {
        server: server.url,
        issuer: authorization.origin,
        user: null,
        scopes: ["read", "write"],
        expiresAt: expect.stringMatching(/^\d{4}-/),
        refreshes: true,
      },
    });
  });

  it("that allows too little for a tool says how to allow more", async () => {
    const needing = await protectedSite(authorization, { challenge: 'scope="read"', needs: () => "write" });
    try {
      const { ended, said } = begin(["login", needing.url, "--no-browser"], { cwd });
      const [, url = ""] = await said("stderr", /^ {2}(http:\S+)$/m);
      await fetch(await agreeing(url));
      await ended;
      const { code, stderr } = await patchbay("call", needing.url, "print");
      expect(code).toBe(3);
      expect(stderr).toContain(`Log in with: patchbay login ${needing.url} --scope "read write"`);
    } finally {
      await needing.close();
    }
  });

  it("by a client that was registered before is refreshed as that client", async () => {
    await login("--client-id", "mine");
    authorization.tokens.clear();
    expect(await patchbay("call", server.url, "print")).toMatchObject({ code: 0 });
    expect(authorization.grants().map((form) => form.get("client_id"))).toEqual(["mine", "mine"]);
  });

  it("does not take a secret without the issuer that it is one with, and never shows it", async () => {
    const env = { PATCHBAY_CLIENT_SECRET: "canary" };
    const words = ["login", server.url, "--client-id", "mine", "-v"];
    const { code, stdout, stderr } = await run(words, { cwd, env });
    expect(code).toBe(2);
    expect(stderr).toContain("say by --issuer whose secret it is");
    expect(stdout + stderr).not.toContain("canary");
    expect(authorization.heard).toEqual([]);
  });

  it("says what is wrong where there is nothing to log in to", async () => {
    expect(await patchbay("login", "calculator")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("A login is for a URL"),
    });
    expect(await patchbay("login", "http://example.com/mcp")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("takes https"),
    });
  });

  it("ends at once when it is interrupted", async () => {
    const { child, ended, said } = begin(["login", server.url, "--no-browser"], { cwd });
    await said("stderr", /^ {2}http:/m);
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 130 });
  });
});

describe("without a login", () => {
  it("a command says how to log in", async () => {
    const { code, stderr } = await patchbay("tools", server.url);
    expect(code).toBe(3);
    expect(stderr).toContain(`Log in with: patchbay login ${server.url}`);
  });

  it("whoami says that nobody is", async () => {
    expect(await patchbay("whoami")).toMatchObject({ code: 0, stderr: expect.stringContaining("Nobody") });
    expect(await patchbay("whoami", server.url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`patchbay login ${server.url}`),
    });
    expect(await patchbay("logout", server.url)).toMatchObject({
      code: 0,
      stdout: `Nobody was logged in to ${server.url}.\n`,
    });
  });
});

describe("whoami and logout", () => {
  it("show who is logged in, and end it here and there", async () => {
    await login();
    const kept = readFileSync(file(), "utf8");
    const { stdout } = await patchbay("whoami");
    expect(stdout).toContain(
      `${server.url}\n  user  not known\n  by    ${authorization.origin}\n  may   read\n`,
    );
    expect(await patchbay("whoami", server.url, "--json")).toMatchObject({ code: 0 });
    const tokens = [...authorization.tokens.keys(), ...authorization.refreshTokens.keys()];
    expect(tokens.every((token) => kept.includes(token) && !stdout.includes(token))).toBe(true);
    expect(await patchbay("logout", server.url)).toMatchObject({
      code: 0,
      stdout: `Logged out of ${server.url}.\n`,
      stderr: "",
    });
    expect([authorization.tokens.size, authorization.refreshTokens.size]).toEqual([0, 0]);
    expect(readFileSync(file(), "utf8")).not.toContain("access-");
    expect(await patchbay("tools", server.url)).toMatchObject({ code: 3 });
  });
});
