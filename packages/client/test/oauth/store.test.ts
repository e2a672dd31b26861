/** What is kept in a file: only its user may read it, a change is whole, and processes take turns. */

import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { defaultPath } from "../../src/oauth/file-store.ts";
import { accounts, fileStore, type Grant, memoryStore } from "../../src/oauth.ts";
import { agreeing, authorizationSite, protectedSite } from "./world.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "patchbay-store-"));
  path = join(folder, "patchbay", "credentials.json");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const grant = (server: string): Grant => ({
  server,
  issuer: "https://issuer.example",
  resource: server,
  clientId: "me",
  accessToken: "secret",
  tokenType: "bearer",
  givenAt: 0,
});

test.skipIf(process.platform === "win32")("a file is its user's alone, and so is its folder", async () => {
  const store = fileStore({ path });
  await store.set("grant", "https://a.example", grant("https://a.example"));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, "patchbay")).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(folder, "patchbay"))).toEqual(["credentials.json"]);
  await expect(fileStore({ path }).get("grant", "https://a.example")).resolves.toEqual(
    grant("https://a.example"),
  );
});

test.skipIf(process.platform === "win32")(
  "a file that others can read is not used, nor is a link",
  async () => {
    const store = fileStore({ path });
    await store.set("grant", "https://a.example", grant("https://a.example"));
    chmodSync(path, 0o644);
    await expect(store.get("grant", "https://a.example")).rejects.toThrow("others can get at it");
    chmodSync(path, 0o600);
    const link = join(folder, "link.json");
    symlinkSync(path, link);
    await expect(fileStore({ path: link }).get("grant", "https://a.example")).rejects.toThrow("ELOOP");
  },
);

test("a file that is broken is said to be, and is not replaced", async () => {
  const store = fileStore({ path });
  await store.set("grant", "https://a.example", grant("https://a.example"));
  writeFileSync(path, "{", { mode: 0o600 });
  await expect(store.set("grant", "https://a.example", undefined)).rejects.toThrow("is not JSON");
  expect(readFileSync(path, "utf8")).toBe("{");
});

test("an entry that somebody has damaged is as if it were not there, and what replaces it counts", async () => {
  const [good, bad] = ["https://good.example", "https://bad.example"];
  const store = fileStore({ path });
  for (const damage of [
    null,
    "text",
    {},
    { ...grant(bad), accessToken: 5 },
    { ...grant(bad), scope: ["read"] },
    { ...grant(bad), expiresAt: 1e20 },
    { ...grant(bad), expiresAt: null },
    { ...grant(bad), tokenType: "dpop" },
  ]) {
    await store.set("grant", good, grant(good));
    writeFileSync(path, JSON.stringify({ grant: { [good]: grant(good), [bad]: damage } }), { mode: 0o600 });
    expect(await store.get("grant", bad)).toBeUndefined();
    expect(await accounts(store)).toMatchObject([{ server: good }]);
    await store.set("grant", bad, grant(bad));
    expect((await accounts(store)).map(({ server }) => server)).toEqual([good, bad]);
  }
});

test.skipIf(process.platform === "win32")("a pipe in its place is not waited for", async () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", ["-m", "600", pipe]);
  await expect(fileStore({ path: pipe }).list("grant")).rejects.toThrow("no regular file");
  await expect(fileStore({ path: folder }).list("grant")).rejects.toThrow("no regular file");
});

test.each([
  ["memory", () => memoryStore()],
  ["file", () => fileStore({ path })],
])("a %s store keeps each kind by its key, and forgets", async (_name, create) => {
  const store = create();
  const registration = { issuer: "https://issuer.example", clientId: "me" };
  await store.set("registration", "x", registration);
  for (const key of ["x", "__proto__", "constructor"]) await store.set("grant", key, grant(key));
  expect(await store.get("registration", "x")).toEqual(registration);
  expect(await store.get("registration", "constructor")).toBeUndefined();
  expect((await store.get("grant", "x"))?.server).toBe("x");
  expect((await store.get("grant", "constructor"))?.server).toBe("constructor");
  await store.set("grant", "x", undefined);
  expect(await store.get("grant", "x")).toBeUndefined();
  expect(await store.get("registration", "x")).toEqual(registration);
});

test.each([
  ["memory", () => memoryStore()],
  ["file", () => fileStore({ path })],
])(
  "work on a %s store is done one at a time for each name, and waiting for it can be given up",
  async (_name, create) => {
    const store = create();
    const done: string[] = [];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const first = store.alone("a", undefined, async () => {
      await held;
      done.push("first");
    });
    const abort = new AbortController();
    const given = store.alone("a", abort.signal, async () => done.push("given up"));
    const third = store.alone("a", undefined, async () => done.push("third"));
    await store.alone("b", undefined, async () => done.push("other"));
    abort.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    release();
    await Promise.all([first, third]);
    expect(done).toEqual(["other", "first", "third"]);
  },
);

test("changes from many sides are all there", async () => {
  const stores = [fileStore({ path }), fileStore({ path })];
  const keys = Array.from({ length: 20 }, (_, index) => `https://server-${index}.example`);
  await Promise.all(keys.map((key, index) => stores[index % 2]?.set("grant", key, grant(key))));
  expect((await fileStore({ path }).list("grant")).map(({ server }) => server).sort()).toEqual(
    [...keys].sort(),
  );
});

test("the file is where the system keeps settings", () => {
  expect(defaultPath({ XDG_CONFIG_HOME: "/home/me/.cfg" }, "linux")).toBe(
    "/home/me/.cfg/patchbay/credentials.json",
  );
  expect(defaultPath({}, "linux")).toMatch(/\.config\/patchbay\/credentials\.json$/);
  expect(defaultPath({ APPDATA: "/appdata" }, "win32")).toBe("/appdata/patchbay/credentials.json");
});

test("processes that find a token spent at once refresh it once", { timeout: 60_000 }, async () => {
  const authorization = await authorizationSite();
  const server = await protectedSite(authorization);
  const script = fileURLToPath(new URL("../fixtures/calling.mjs", import.meta.url));
  const children = Array.from({ length: 3 }, () => fork(script, [server.url, path], { stdio: "inherit" }));
  try {
    const login = await connect(server.url, { auth: { store: fileStore({ path }), onAuthorize: agreeing } });
    await login.close();
    const next = () => Promise.all(children.map(async (child) => (await once(child, "message"))[0]));
    const connected = next();
    for (const child of children) child.send("connect");
    expect(await connected).toEqual(["connected", "connected", "connected"]);
    authorization.tokens.clear();
    const called = next();
    for (const child of children) child.send("call");
    expect(await called).toEqual(["called", "called", "called"]);
    expect(authorization.grants().map((form) => form.get("grant_type"))).toEqual([
      "authorization_code",
      "refresh_token",
    ]);
  } finally {
    for (const child of children) child.kill();
    await Promise.all([server.close(), authorization.close()]);
  }
});
