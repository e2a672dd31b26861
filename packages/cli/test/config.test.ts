// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own variables
/** mcp.json: found, checked, expanded. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readConfig } from "../src/config/config.ts";
import { expand } from "../src/config/expand.ts";
import { review } from "../src/config/schema.ts";

describe("expand", () => {
  const environment = { TOKEN: "abc", EMPTY: "" };

  it("puts variables into every string", () => {
    const value = {
      a: "Bearer ${TOKEN}",
      list: ["${NONE:-x}-${TOKEN}", 3],
      deep: { b: "${EMPTY}|${EMPTY:-d}" },
    };
    expect(expand(value, "here", environment)).toEqual({
      a: "Bearer abc",
      list: ["x-abc", 3],
      deep: { b: "|d" },
    });
    expect(expand("$TOKEN ${} ${A B}", "here", environment)).toBe("$TOKEN ${} ${A B}");
  });

  it("names an unset variable and its place", () => {
    expect(() => expand({ env: { K: "${MISSING}" } }, "mcp.json: mcpServers.x", environment)).toThrow(
      /^mcp\.json: mcpServers\.x\.env\.K: the environment variable MISSING is not set/,
    );
  });

  it("does not expand what a variable holds", () => {
    expect(expand("${TOKEN}", "here", { TOKEN: "${OTHER}" })).toBe("${OTHER}");
  });
});

describe("review", () => {
  it("takes both kinds of server", () => {
    const { servers, errors, warnings } = review({
      mcpServers: {
        a: { command: "node", args: ["x"], env: { K: "v" }, cwd: ".", timeout: 5 },
        b: { url: "https://x/mcp", headers: { H: "v" } },
      },
    });
    expect([errors, warnings]).toEqual([[], []]);
    expect([...servers.keys()]).toEqual(["a", "b"]);
  });

  it("takes VS Code's spelling", () => {
    const { servers, errors, warnings } = review({
      inputs: [],
      servers: { a: { type: "stdio", command: "node" }, b: { type: "http", url: "https://x/mcp" } },
    });
    expect([errors, warnings, servers.size]).toEqual([[], [], 2]);
  });

  it.each([
    [[], /must be a JSON object/],
    [{}, /"mcpServers" is missing/],
    [{ mcpServer: {} }, /"mcpServers" is missing; rename "mcpServer"/],
    [{ mcpServers: [] }, /mcpServers must be an object/],
    [{ mcpServers: { a: 1 } }, /mcpServers\.a must be an object/],
    [{ mcpServers: { a: {} } }, /mcpServers\.a needs "command" .* or "url"/],
    [{ mcpServers: { a: { comand: "x" } } }, /it has "comand"/],
    [{ mcpServers: { a: { command: "x", url: "y" } } }, /both "command" and "url"/],
    [{ mcpServers: { a: { command: "x", args: "y" } } }, /mcpServers\.a\.args: .*array/],
    [{ mcpServers: { a: { command: "x", timeout: 2 ** 31 } } }, /mcpServers\.a\.timeout: .*2147483647/],
    [{ mcpServers: { "a\n✓ b": 1 } }, /^mcpServers\.a ✓ b must be an object/],
    [{ mcpServers: { a: { command: "x", timeout: -1 } } }, /mcpServers\.a\.timeout: /],
    [{ mcpServers: { a: { command: "x", env: { K: 1 } } } }, /mcpServers\.a\.env\.K: .*string/],
  ])("refuses %j", (content, message) => {
    expect(review(content).errors.join("\n")).toMatch(message);
  });

  it("warns of unknown keys, with the nearest", () => {
    const { errors, warnings } = review({ mcpServers: { a: { command: "x", arg: [] } }, extra: 1 });
    expect(errors).toEqual([]);
    expect(warnings).toEqual([
      "extra is unknown and ignored",
      'mcpServers.a.arg is unknown and ignored; did you mean "args"?',
    ]);
  });
});

describe("readConfig", () => {
  const before = { cwd: process.cwd(), home: process.env.XDG_CONFIG_HOME };
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "patchbay-config-"));
    mkdirSync(join(folder, "work", "below"), { recursive: true });
    mkdirSync(join(folder, "home", "patchbay"), { recursive: true });
    process.env.XDG_CONFIG_HOME = join(folder, "home");
    process.chdir(join(folder, "work"));
  });
  afterEach(() => {
    process.chdir(before.cwd);
    if (before.home === undefined) delete process.env.XDG_CONFIG_HOME;
    else process.env.XDG_CONFIG_HOME = before.home;
    rmSync(folder, { recursive: true });
  });
  const put = (path: string, servers: object) =>
    writeFileSync(join(folder, path), JSON.stringify({ mcpServers: servers }));

  it("is empty where there is no file, and does not look above", async () => {
    put("work/mcp.json", { a: { command: "x" } });
    process.chdir("below");
    expect((await readConfig()).names).toEqual([]);
  });

  it("joins the project's and the user's; the project's wins", async () => {
    put("work/mcp.json", { a: { command: "mine", cwd: "sub" } });
    put("home/patchbay/mcp.json", { a: { command: "other" }, b: { url: "http://x" } });
    const config = await readConfig();
    expect(config.names).toEqual(["a", "b"]);
    expect(config.server("a")).toEqual({ command: "mine", cwd: join(process.cwd(), "sub") });
    expect(config.server("c")).toBeUndefined();
  });

  it("reads a regular file of at most 1 MiB, and nothing that never ends", async () => {
    const takes = "; a configuration is a regular file of at most 1 MiB.";
    mkdirSync("folder.json");
    await expect(readConfig("folder.json")).rejects.toThrow(`folder.json: it is a folder${takes}`);
    writeFileSync("large.json", " ".repeat(1024 * 1024 + 1));
    await expect(readConfig("large.json")).rejects.toThrow(`large.json: it is larger than 1 MiB${takes}`);
    if (process.platform === "win32") return;
    execFileSync("mkfifo", ["pipe.json"]);
    await expect(readConfig("pipe.json")).rejects.toThrow(`pipe.json: it is no regular file${takes}`);
    await expect(readConfig("/dev/zero")).rejects.toThrow(`/dev/zero: it is no regular file${takes}`);
  });

  it("reads only the file it is told to", async () => {
    put("work/mcp.json", { a: { command: "x" } });
    put("work/other.json", { b: { command: "y" } });
    expect((await readConfig("other.json")).names).toEqual(["b"]);
    await expect(readConfig("none.json")).rejects.toThrow("none.json: there is no such file.");
  });

  it("expands a server only when it is used", async () => {
    put("work/mcp.json", { a: { command: "x" }, b: { command: "${PATCHBAY_TEST_UNSET}" } });
    const config = await readConfig();
    expect(config.server("a")).toEqual({ command: "x" });
    expect(() => config.server("b")).toThrow(
      /mcp\.json: mcpServers\.b\.command: .*PATCHBAY_TEST_UNSET is not set/,
    );
  });

  it("says which file is not JSON", async () => {
    writeFileSync("mcp.json", "{ // no\n}");
    await expect(readConfig()).rejects.toThrow(/^mcp\.json: not JSON: /);
  });
});
