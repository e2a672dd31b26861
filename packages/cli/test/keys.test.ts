/** `serve` with keys that were given out, and with tokens that their issuer is asked about. */

import { chmodSync, chownSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "@patchbay/client";
import { describe, expect, it, vi } from "vitest";
import { AUDIENCE, issuer } from "../../server/test/auth/issuer.ts";
import { begin, FIXTURE, run } from "./patchbay.ts";
import { workplace } from "./workplace.ts";

// Each test starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

const place = workplace();
const file = () => join(place.cwd, "keys.json");
const patchbay = (...words: string[]) => run(words, { cwd: place.cwd });

/** Serves the fixture; gives its URL. */
async function serve(words: string[], env: Record<string, string> = {}): Promise<string> {
  const served = begin(["serve", FIXTURE, "--http", "0", ...words], { cwd: place.cwd, env });
  place.runs.push(served);
  const [, url = ""] = await served.said("stderr", /served at (http:\S+)/);
  return url;
}

async function status(url: string, token: string | undefined): Promise<number> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return (await fetch(url, { method: "DELETE", headers })).status;
}

describe("keys", () => {
  it("are made, shown once, kept as hashes, and let in who has one", async () => {
    const made = await patchbay("key", file(), "nightly", "--scopes", "a b");
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[\da-f]{64}\n$/) });
    const nightly = made.stdout.trim();
    const other = await patchbay("key", file(), "daily", "--expires", "2999-01-01", "--json");
    const { key: daily, hash } = JSON.parse(other.stdout);
    expect(JSON.parse(readFileSync(file(), "utf8"))).toEqual([
      { hash: expect.stringMatching(/^sha256:/), subject: "nightly", scopes: ["a", "b"] },
      { hash, subject: "daily", expires: "2999-01-01T00:00:00.000Z" },
    ]);
    expect(readFileSync(file(), "utf8")).not.toContain(nightly);
    expect(statSync(file()).mode & 0o777).toBe(0o600);

    const url = await serve(["--auth-keys", file(), "--auth-scopes", "a"]);
    const client = await connect(url, { auth: nightly });
    expect((await client.callTool("echo", { text: "hi" })).content).toEqual([{ type: "text", text: "hi" }]);
    await client.close();
    expect(await status(url, undefined)).toBe(401);
    expect(await status(url, "0".repeat(64))).toBe(401);
    expect(await status(url, daily)).toBe(403);
  });

  it.each([
    ["[]", 0o600, /it has no keys/],
    ["{", 0o600, /it is not JSON/],
    ['[{"hash":"x","subject":"s"}]', 0o600, /\[0\]\.hash is not as|\[0\]\.?\[?hash\]? is not as/],
    ['[{"hash":"x","subject":"s"}]', 0o622, /others can write to it/],
    [undefined, 0, /there is no such file/],
  ])("of a file like %j (%o) are not taken", async (content, mode, why) => {
    if (content !== undefined) {
      writeFileSync(file(), content);
      chmodSync(file(), mode);
    }
    const { code, stderr } = await patchbay("serve", FIXTURE, "--http", "0", "--auth-keys", file());
    expect([code, stderr]).toEqual([2, expect.stringMatching(why)]);
  });

  it.each([
    [[""], /subject names nobody/],
    [["bob", "--scopes", 'a"b'], /scopes\[0\] is no scope/],
    [["bob", "--expires", "+020000-01-01"], /expires is no time/],
  ])("for %j are not made, and those that there are count on", async (words, why) => {
    await patchbay("key", file(), "nightly");
    const before = readFileSync(file(), "utf8");
    const { code, stdout, stderr } = await patchbay("key", file(), ...words);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(why)]);
    expect(readFileSync(file(), "utf8")).toBe(before);
  });

  it("that are made at the same time are all there", async () => {
    const names = ["a", "b", "c", "d"];
    const made = await Promise.all(names.map((name) => patchbay("key", file(), name)));
    expect(made.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const kept = JSON.parse(readFileSync(file(), "utf8")) as { subject: string }[];
    expect(kept.map(({ subject }) => subject).sort()).toEqual(names);
    expect(readdirSync(place.cwd).filter((name) => name.startsWith("keys.json"))).toEqual(["keys.json"]);
  });

  it.runIf(process.getuid?.() === 0)("of a file that is another user's are not taken", async () => {
    await patchbay("key", file(), "nightly");
    chownSync(file(), 1000, 1000);
    const { code, stderr } = await patchbay("serve", FIXTURE, "--http", "0", "--auth-keys", file());
    expect([code, stderr]).toEqual([2, expect.stringContaining("it is another user's")]);
  });

  it("of a file that begins with a byte order mark are taken", async () => {
    await patchbay("key", file(), "nightly");
    writeFileSync(file(), `\uFEFF${readFileSync(file(), "utf8")}`);
    expect((await patchbay("key", file(), "daily")).code).toBe(0);
  });

  it("that have ended already are not made", async () => {
    const { code, stderr } = await patchbay("key", file(), "late", "--expires", "2001-01-01");
    expect([code, stderr]).toEqual([2, expect.stringContaining("--expires takes a time to come")]);
  });
});

describe("introspection", () => {
  const words = (origin: string) => [
    ...["--auth-issuer", origin, "--auth-audience", AUDIENCE],
    ...["--auth-introspection", `${origin}/introspect`, "--auth-client-id", "resource:1"],
  ];

  it.each([[1], [2]])("lets in who the issuer says (%i workers), and shows no secret", async (workers) => {
    const idp = await issuer();
    try {
      idp.opaque.set("good", { active: true, sub: "ann", aud: AUDIENCE });
      const env = { PATCHBAY_AUTH_CLIENT_SECRET: "s&cret" };
      const url = await serve([...words(idp.origin), "--workers", `${workers}`], env);
      const client = await connect(url, { auth: "good" });
      expect((await client.callTool("echo", { text: "hi" })).content).toEqual([{ type: "text", text: "hi" }]);
      await client.close();
      expect(await status(url, "bad")).toBe(401);
      const [served] = place.runs;
      served?.child.kill("SIGTERM");
      const { stdout, stderr } = (await served?.ended) ?? { stdout: "", stderr: "" };
      expect(stdout + stderr).not.toContain("s&cret");
    } finally {
      await idp.close();
    }
  });

  it.each([
    [["--auth-client-id", "x"], /--auth-issuer is missing/],
    [["--auth-issuer", "https://i.example", "--auth-keys", "k"], /--auth-keys takes keys that you gave out/],
    [["--auth-keys", "k", "--auth-dpop"], /--auth-dpop the tokens of somebody else/],
    [words("https://i.example").slice(0, 6), /--auth-client-id is missing/],
    [words("https://i.example"), /PATCHBAY_AUTH_CLIENT_SECRET is not set/],
    [[...words("https://i.example"), "--auth-jwks", "https://i.example/jwks"], /take one/],
    [[...words("https://i.example").slice(0, 4), "--auth-client-id", "x"], /is for --auth-introspection/],
  ])("options that leave it open who comes in are refused: %j", async (options, why) => {
    const { code, stderr } = await patchbay("serve", FIXTURE, "--http", "0", ...options);
    expect([code, stderr]).toEqual([2, expect.stringMatching(why)]);
  });
});
