/** `serve` with tokens asked for: a real authorization server, and users who log in to it. */

import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { browserOf, type RealProvider, realProvider } from "../../client/test/oauth/provider.ts";
import { begin, emptyFolder, FIXTURE, type Run, run } from "./patchbay.ts";

// Each test starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const folders: string[] = [];
function folder(): string {
  const own = emptyFolder();
  folders.push(own);
  return own;
}
afterAll(() => {
  for (const each of folders) rmSync(each, { recursive: true });
});

describe.each([[1], [2]])("with %i workers", (workers) => {
  let provider: RealProvider;
  let served: Run;
  let url: string;
  beforeAll(async () => {
    provider = await realProvider();
    const port = await freePort();
    url = `http://127.0.0.1:${port}/mcp`;
    const auth = ["--auth-issuer", provider.issuer, "--auth-audience", url, "--auth-scopes", "read"];
    const words = ["serve", FIXTURE, "--http", `${port}`, "--workers", `${workers}`, ...auth];
    served = begin(words, { cwd: folder() });
    await served.said("stderr", /served at /);
  });
  afterAll(async () => {
    served.child.kill("SIGTERM");
    expect(await served.ended).toMatchObject({ code: 0 });
    await provider.close();
  });

  it("lets in who has logged in, and nobody else", async () => {
    const [ann, stranger] = [folder(), folder()];
    const { said, ended } = begin(["login", url, "--no-browser"], { cwd: ann });
    const [, page = ""] = await said("stderr", /^ {2}(http:\S+)$/m);
    expect(new URL(page).searchParams.get("scope")).toMatch(/^read\b/);
    await (await fetch(await browserOf("ann")(page))).text();
    expect(await ended).toMatchObject({ code: 0, stdout: `Logged in to ${url}.\n` });
    for (let calls = 0; calls < 3; calls++) {
      const called = await run(["call", url, "echo", "text=hi"], { cwd: ann });
      expect(called).toMatchObject({ code: 0, stdout: "hi\n" });
    }
    const refused = await run(["call", url, "echo", "text=hi"], { cwd: stranger });
    expect(refused.code).not.toBe(0);
    expect(refused.stdout).toBe("");
    expect(refused.stderr).toContain("login");
  });
});

describe("options", () => {
  it.each([
    [["--auth-issuer", "https://idp.example"], /--auth-audience is missing/],
    [["--auth-audience", "https://mcp.example/mcp"], /--auth-issuer is missing/],
    [["--auth-scopes", "read"], /--auth-issuer is missing/],
    [["--auth-issuer", "https://idp.example", "--auth-audience", "mcp"], /--auth-audience takes the URL/],
    [
      ["--auth-issuer", "https://idp.example", "--auth-audience", "https://"],
      /--auth-audience takes the URL/,
    ],
    [
      ["--auth-issuer", "https://idp.example", "--auth-audience", "https://m#f"],
      /--auth-audience takes the URL/,
    ],
    [
      ["--auth-issuer", "http://idp.example", "--auth-audience", "https://m.example"],
      /is not a URL with https/,
    ],
  ])("%j would let in anybody, and nothing is served", async (options, why) => {
    const ended = await run(["serve", "calculator", "--http", "0", ...options], { cwd: folder() });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(why);
  });

  it("are for HTTP", async () => {
    const ended = await run(["serve", "calculator", "--auth-issuer", "https://idp.example"], {
      cwd: folder(),
    });
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining("--auth-issuer is for HTTP")]);
  });
});
