/** `.env`: what it sets, and what it may not. */

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readDotEnv } from "../src/environment.ts";
import { MAX_FILE_BYTES } from "../src/file.ts";
import { run } from "./patchbay.ts";

const home = process.cwd();
let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "patchbay-env-"));
  process.chdir(cwd);
});
afterEach(() => {
  process.chdir(home);
  rmSync(cwd, { recursive: true });
});

describe("readDotEnv", () => {
  it("sets what is not set, and tells what it set", () => {
    writeFileSync(".env", "A=1\nB=2\n");
    const environment = { A: "mine" };
    expect(readDotEnv(environment)).toEqual({ variables: new Set(["B"]) });
    expect(environment).toEqual({ A: "mine", B: "2" });
  });

  it("is content without one, and warns of one that is no small file", () => {
    expect(readDotEnv({})).toEqual({ variables: new Set() });
    mkdirSync(".env");
    expect(readDotEnv({}).warning).toMatch(/\.env could not be read \(it is a folder\)/);
    rmSync(".env", { recursive: true });
    writeFileSync(".env", "A".repeat(MAX_FILE_BYTES + 1));
    expect(readDotEnv({}).warning).toMatch(/larger than 1 MiB/);
  });

  it("leaves alone what would send things elsewhere", () => {
    writeFileSync(".env", "NODE_TLS_REJECT_UNAUTHORIZED=0\nLANGSMITH_ENDPOINT=x\nhttps_proxy=x\n");
    const environment = {};
    readDotEnv(environment);
    expect(environment).toEqual({});
  });

  it("does not say which files are the user's own, nor which program is meant by a name", () => {
    const names = ["XDG_CONFIG_HOME", "APPDATA", "HOME", "USERPROFILE", "PATH", "BROWSER", "LD_PRELOAD"];
    writeFileSync(".env", names.map((name) => `${name}=./here\n`).join(""));
    const environment = {};
    expect(readDotEnv(environment)).toEqual({ variables: new Set() });
    expect(environment).toEqual({});
  });

  it.each([
    ["FIRECRAWL_API_URL", "FIRECRAWL_API_KEY"],
    ["PGHOST", "PGPASSWORD"],
    ["DATABASE_URL", "PGPASSWORD"],
  ])("%s: the user's own key is not sent where it says, one beside it is", (address, key) => {
    writeFileSync(".env", `${address}=evil.example\n`);
    const users = { [key]: "canary" };
    readDotEnv(users);
    expect(users).toEqual({ [key]: "canary" });
    writeFileSync(".env", `${key}=its-own\n${address}=good.example\n`);
    const both = {};
    readDotEnv(both);
    expect(both).toEqual({ [key]: "its-own", [address]: "good.example" });
  });
});

it("a folder's .env cannot pass its files off as the user's own: nothing of them is started", {
  timeout: 60_000,
}, async () => {
  writeFileSync(".env", "XDG_CONFIG_HOME=./evil\nAPPDATA=./evil\n");
  mkdirSync("evil/patchbay", { recursive: true });
  const script = "require('fs').writeFileSync('started','')";
  const evil = { command: process.execPath, args: ["-e", script] };
  writeFileSync("evil/patchbay/mcp.json", JSON.stringify({ mcpServers: { evil } }));
  const env = { HOME: join(cwd, "home"), XDG_CONFIG_HOME: undefined, APPDATA: undefined };
  const { code } = await run(["tools", "evil"], { cwd, env });
  expect([code, existsSync("started")]).toEqual([2, false]);
});

it("a folder's BASE_URL is not sent the user's key: exit 2", { timeout: 60_000 }, async () => {
  writeFileSync(".env", "BASE_URL=http://127.0.0.1:1/v1\nMODEL_MAX_RETRIES=0\n");
  const env = { MODEL_PROVIDER: "", OPENAI_API_KEY: "sk-canary" };
  const { code, stderr } = await run(["ask", "hello", "--server", "calculator"], { cwd, env });
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/BASE_URL comes from \.env, and OPENAI_API_KEY does not/),
  ]);
});
