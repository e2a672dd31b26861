// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own variables
/** mcp.json: found, checked, expanded. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readConfig } from "../src/config/config.ts";
import { expand } from "../src/config/expand.ts";
import { review } from "../src/config/schema.ts";

describe("expand", () => {
  const scope = { environment: { TOKEN: "abc", EMPTY: "", HOME: "/home/me" }, workspaceFolder: "/a/project" };

  it("puts variables into every string", () => {
    const value = {
      a: "Bearer ${TOKEN}",
      list: ["${NONE:-x}-${TOKEN}", 3],
      deep: { b: "${EMPTY}|${EMPTY:-d}" },
    };
    expect(expand(value, "here", scope)).toEqual({
      a: "Bearer abc",
      list: ["x-abc", 3],
      deep: { b: "|d" },
    });
    expect(expand("$TOKEN ${} ${A B}", "here", scope)).toBe("$TOKEN ${} ${A B}");
  });

  it.each([
    ["${env:TOKEN}", "abc"],
    ["${env:NONE:-d}", "d"],
    ["${userHome}/x", "/home/me/x"],
    ["${workspaceFolder}/x", "/a/project/x"],
    ["${workspaceFolderBasename}", "project"],
    ["a${/}b${pathSeparator}c", `a${sep}b${sep}c`],
    ["${input:key}", "typed"],
    ["${cwd}", process.cwd()],
  ])("knows what VS Code knows: %s", (text, expected) => {
    expect(expand(text, "here", { ...scope, inputs: new Map([["key", "typed"]]) })).toBe(expected);
  });

  it("refuses what only VS Code can do, and inputs that there are not", () => {
    expect(() => expand("${command:pick}", "here", scope)).toThrow(
      /^here: \$\{command:pick\} is known to VS Code/,
    );
    for (const name of ["constructor", "__proto__", "toString"])
      expect(() => expand(`\${${name}}`, "here", { ...scope, environment: process.env })).toThrow(
        `${name} is not set`,
      );
    expect(() => expand(["${input:none}"], "here", scope)).toThrow(
      'here[0]: there is no input "none" in "inputs".',
    );
  });

  it("names an unset variable and its place", () => {
    expect(() => expand({ env: { K: "${MISSING}" } }, "mcp.json: mcpServers.x", scope)).toThrow(
      /^mcp\.json: mcpServers\.x\.env\.K: the environment variable MISSING is not set/,
    );
  });

  it("does not expand what a variable holds", () => {
    expect(expand("${TOKEN}", "here", { ...scope, environment: { TOKEN: "${OTHER}" } })).toBe("${OTHER}");
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
    expect(await config.server("a")).toEqual({ command: "mine", cwd: join(process.cwd(), "sub") });
    expect(await config.server("c")).toBeUndefined();
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
    expect(await config.server("a")).toEqual({ command: "x" });
    await expect(config.server("b")).rejects.toThrow(
      /mcp\.json: mcpServers\.b\.command: .*PATCHBAY_TEST_UNSET is not set/,
    );
  });

  it("takes comments and trailing commas, as VS Code does", async () => {
    writeFileSync(
      "mcp.json",
      '\uFEFF// mine\n{ "servers": { "a": { "command": "x//y", /* , */ "args": ["}",], }, }, }',
    );
    expect(await (await readConfig()).server("a")).toEqual({ command: "x//y", args: ["}"] });
  });

  it("leaves out what is disabled, and what is disabled here is so", async () => {
    put("work/mcp.json", { a: { command: "x", disabled: true } });
    put("home/patchbay/mcp.json", { a: { command: "y" }, b: { command: "z" } });
    const config = await readConfig();
    expect(config.names).toEqual(["b"]);
    await expect(config.server("a")).rejects.toThrow(
      'mcp.json: mcpServers.a is disabled: remove "disabled" to use it.',
    );
  });

  it("reads an envFile beside the entry's own variables, which win", async () => {
    writeFileSync(".env.server", "A=1\nB=2\n");
    put("work/mcp.json", { a: { command: "x", envFile: "${workspaceFolder}/.env.server", env: { B: "3" } } });
    expect(await (await readConfig()).server("a")).toEqual({ command: "x", env: { A: "1", B: "3" } });
    put("work/mcp.json", { a: { command: "x", envFile: "none" } });
    await expect((await readConfig()).server("a")).rejects.toThrow(
      "mcp.json: mcpServers.a.envFile: none: there is no such file.",
    );
  });

  it("asks for each input once; without a user it takes defaults, or says what to do", async () => {
    const inputs = [
      { id: "api-key", type: "promptString", description: "A key", password: true },
      { id: "region", type: "pickString", options: ["eu", "us"], default: "eu" },
      { id: "odd", type: "command", command: "x" },
    ];
    const env = { K: "${input:api-key}", R: "${input:region}" };
    const servers = {
      a: { command: "x", env },
      b: { command: "y", env },
      c: { command: "z", env: { R: env.R } },
    };
    writeFileSync("mcp.json", JSON.stringify({ inputs, servers }));
    const config = await readConfig();
    expect(config.warnings).toEqual([
      expect.stringMatching(/^mcp\.json: inputs\[2\]\.type: .*it is ignored$/),
    ]);
    const asked: string[] = [];
    const ask = async ({ id }: { id: string }) => {
      asked.push(id);
      return `typed ${id}`;
    };
    expect(await config.server("a", ask)).toEqual({
      command: "x",
      env: { K: "typed api-key", R: "typed region" },
    });
    await config.server("b", ask);
    expect(asked).toEqual(["api-key", "region"]);
    expect(config.hidden).toContainEqual(["typed api-key", "[api-key]"]);
    const alone = await readConfig();
    expect(await alone.server("c")).toEqual({ command: "z", env: { R: "eu" } });
    await expect(alone.server("a")).rejects.toThrow(
      /^mcp\.json: servers\.a\.env\.K: \$\{input:api-key\} asks the user: A key, and nobody .* write \$\{API_KEY\} /,
    );
  });

  it("says which file is not JSON", async () => {
    writeFileSync("mcp.json", '{ // a comment\n  "mcpServers": { x }\n}');
    await expect(readConfig()).rejects.toThrow(/^mcp\.json:2:19: not JSON: /);
  });
});
