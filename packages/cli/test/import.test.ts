// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own variables
/** `patchbay import`: where other applications keep servers, what is taken of them, and what is not. */

import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type Machine, sourcesOf } from "../src/config/sources.ts";
import { withoutValues } from "../src/config/variables.ts";
import { run } from "./patchbay.ts";
import { workplace } from "./workplace.ts";

// Each test starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

describe("the places", () => {
  const placesOn = (machine: Machine) =>
    sourcesOf(machine).map(({ application, file }) => `${application} ${file}`);

  it.each([
    [
      { platform: "linux", environment: {}, home: "/home/me", folder: "/p" },
      ["/home/me/.config/Claude/claude_desktop_config.json", "/home/me/.config/Code/User/mcp.json"],
      [
        "/home/me/.claude.json",
        "/p/.mcp.json",
        "/p/.cursor/mcp.json",
        "/home/me/.cursor/mcp.json",
        "/p/.vscode/mcp.json",
      ],
    ],
    [
      { platform: "darwin", environment: {}, home: "/Users/me", folder: "/p" },
      [
        "/Users/me/Library/Application Support/Claude/claude_desktop_config.json",
        "/Users/me/Library/Application Support/Code/User/mcp.json",
      ],
      ["/Users/me/.claude.json", "/p/.mcp.json", "/Users/me/.cursor/mcp.json", "/p/.vscode/mcp.json"],
    ],
    [
      { platform: "win32", environment: { APPDATA: "C:\\Me\\Roaming" }, home: "C:\\Me", folder: "D:\\p" },
      ["C:\\Me\\Roaming\\Claude\\claude_desktop_config.json", "C:\\Me\\Roaming\\Code\\User\\mcp.json"],
      ["C:\\Me\\.claude.json", "D:\\p\\.mcp.json", "C:\\Me\\.cursor\\mcp.json", "D:\\p\\.vscode\\mcp.json"],
    ],
  ] as [Machine, [string, string], string[]][])("on %j", (machine, [desktop, vscode], others) => {
    const places = placesOn(machine);
    expect(places).toContain(`claude-desktop ${desktop}`);
    expect(places).toContain(`vscode ${vscode}`);
    for (const other of others) expect(places.some((place) => place.endsWith(` ${other}`))).toBe(true);
  });
});

describe("secrets", () => {
  it.each([
    [
      { command: "x", env: { API_TOKEN: "s3cret", LEVEL: "debug", PORT: "80" } },
      { env: { API_TOKEN: "${API_TOKEN}", LEVEL: "debug", PORT: "80" } },
    ],
    [{ command: "x", env: { A: "ghp_abcdefghijklmnop0123" } }, { env: { A: "${A}" } }],
    [{ command: "x", env: { KEY: "${KEY}" } }, { env: { KEY: "${KEY}" } }],
    [
      { command: "x", args: ["--api-key", "s3cret", "--dir", "/x"] },
      { args: ["--api-key", "${MY_SERVER_API_KEY}", "--dir", "/x"] },
    ],
    [{ command: "x", args: ["--token=s3cret"] }, { args: ["--token=${MY_SERVER_TOKEN}"] }],
    [
      { command: "x", args: ["--header", "Authorization: Bearer s3cret"] },
      { args: ["--header", "Authorization: Bearer ${MY_SERVER_TOKEN}"] },
    ],
    [{ command: "x", args: ["postgres://me:s3cret@h/db"] }, { args: ["${MY_SERVER_TOKEN}"] }],
    [
      { url: "https://x/mcp", headers: { Authorization: "Bearer s3cret", Accept: "a/b" } },
      { headers: { Authorization: "Bearer ${MY_SERVER_TOKEN}", Accept: "a/b" } },
    ],
    [
      { url: "https://me:s3cret@x/mcp?api_key=s3cret&page=2" },
      { url: "https://${MY_SERVER_USER}@x/mcp?api_key=${MY_SERVER_API_KEY}&page=2" },
    ],
    [
      {
        command: "docker",
        args: ["run", "-e", "GITHUB_TOKEN=ghp_s3cret", "--env=API_KEY=s3cret", "LEVEL=debug"],
      },
      { args: ["run", "-e", "GITHUB_TOKEN=${GITHUB_TOKEN}", "--env=API_KEY=${API_KEY}", "LEVEL=debug"] },
    ],
    [
      {
        command: "npx",
        args: ["mcp-remote", "https://x/sse?apiKey=s3cret&page=2", "--header=X-Key: s3cret two"],
      },
      {
        args: [
          "mcp-remote",
          "https://x/sse?apiKey=${MY_SERVER_API_KEY}&page=2",
          "--header=X-Key: ${MY_SERVER_TOKEN}",
        ],
      },
    ],
    [
      { command: "x", env: { AT: "https://x/?token=s3cret" } },
      { env: { AT: "https://x/?token=${MY_SERVER_TOKEN}" } },
    ],
    [
      { url: "https://a1/api/mcp/s/NDU0s3cretZGFzZGFz1234/mcp" },
      { url: "https://a1/api/mcp/s/${MY_SERVER_PATH_KEY}/mcp" },
    ],
  ])("of %j become variables", (entry, expected) => {
    const { entry: safe } = withoutValues("my-server", entry, new Map());
    expect(safe).toMatchObject(expected);
    expect(JSON.stringify(safe)).not.toContain("s3cret");
  });

  it("of two servers are two variables, unless they are the same", () => {
    const taken = new Map<string, string>();
    const of = (name: string, KEY: string) =>
      withoutValues(name, { command: "x", env: { KEY } }, taken).entry;
    expect([of("a", "one"), of("b", "two"), of("c", "one")]).toMatchObject([
      { env: { KEY: "${KEY}" } },
      { env: { KEY: "${B_KEY}" } },
      { env: { KEY: "${KEY}" } },
    ]);
  });
});

describe("the command", () => {
  const place = workplace();
  const put = (file: string, content: unknown) => {
    const path = join(place.cwd, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  };
  const patchbay = (...words: string[]) => run(["import", ...words], { cwd: place.cwd });
  const own = () => readFileSync(join(place.cwd, "patchbay", "mcp.json"), "utf8");

  it("shows what there is and writes nothing; --write writes it, without secrets", async () => {
    put(".cursor/mcp.json", {
      mcpServers: { github: { command: "npx", args: ["-y", "gh"], env: { GITHUB_TOKEN: "canary-1" } } },
    });
    put(
      "Code/User/mcp.json",
      '{ // mine\n "inputs": [{"id": "api-key"}], "servers": { "far": { "type": "http", "url": "https://x/mcp", "headers": {"X-Key": "${input:api-key}"}, }, }, }',
    );
    // The home is the folder here: both of Cursor's places are one file.
    const shown = await patchbay("--project");
    expect([shown.code, shown.stderr]).toEqual([0, ""]);
    expect(shown.stdout).toMatch(
      /\+ github\n.*Cursor: .*\n.*npx -y gh\n.*set GITHUB_TOKEN: .* at env\.GITHUB_TOKEN\n/,
    );
    expect(shown.stdout).toMatch(
      /\+ far\n.*VS Code: [\s\S]*set API_KEY: .*\nNothing is written yet: --write puts 2 servers into /,
    );
    expect(() => own()).toThrow("ENOENT");
    const written = await patchbay("--write");
    expect([written.code, written.stdout + written.stderr]).toEqual([
      0,
      expect.stringMatching(/2 servers written to /),
    ]);
    expect(JSON.parse(own())).toEqual({
      mcpServers: {
        github: { command: "npx", args: ["-y", "gh"], env: { GITHUB_TOKEN: "${GITHUB_TOKEN}" } },
        far: { url: "https://x/mcp", headers: { "X-Key": "${API_KEY}" } },
      },
    });
    expect(own() + shown.stdout + written.stdout).not.toContain("canary");
    if (process.platform !== "win32")
      expect(statSync(join(place.cwd, "patchbay/mcp.json")).mode & 0o777).toBe(0o600);
    expect((await patchbay()).stdout).toMatch(
      /= github: it is there already[\s\S]*= far: [\s\S]*Nothing to take over/,
    );
  });

  it("keeps what is there, unless it is told otherwise, and keeps comments and permissions", async () => {
    put("Claude/claude_desktop_config.json", {
      mcpServers: { a: { command: "new" }, b: { command: "b" }, odd: {} },
    });
    put(
      "mine.json",
      '{\n  // my servers\n  "mcpServers": {\n    "a": { "command": "old" } // the old one\n  }\n}\n',
    );
    if (process.platform !== "win32") chmodSync(join(place.cwd, "mine.json"), 0o640);
    const kept = await patchbay("--config", "mine.json", "--write", "--json");
    expect(kept.code).toBe(1);
    expect(JSON.parse(kept.stdout)).toMatchObject({
      written: true,
      servers: [
        { name: "a", state: "conflict", taken: false, why: "another of that name is there already" },
        { name: "b", state: "add", taken: true, from: { application: "claude-desktop" } },
        { name: "odd", state: "invalid", taken: false, why: expect.stringContaining('needs "command"') },
      ],
    });
    const after = readFileSync(join(place.cwd, "mine.json"), "utf8");
    expect(after).toBe(
      '{\n  // my servers\n  "mcpServers": {\n    "a": { "command": "old" }, // the old one\n    "b": {\n      "command": "b"\n    }\n  }\n}\n',
    );
    if (process.platform !== "win32") expect(statSync(join(place.cwd, "mine.json")).mode & 0o777).toBe(0o640);
    expect((await patchbay("--config", "mine.json", "--write", "--overwrite", "-s", "a")).code).toBe(0);
    expect(readFileSync(join(place.cwd, "mine.json"), "utf8")).toContain(
      '"a": {\n      "command": "new"\n    }, // the old one',
    );
  });

  it("takes a folder's own servers only with --project, and says which of two is taken", async () => {
    put(".vscode/mcp.json", { servers: { a: { command: "${workspaceFolder}/a" } } });
    put(".mcp.json", { mcpServers: { a: { command: "other" } } });
    put(".claude.json", {
      mcpServers: { user: { command: "u" } },
      projects: { [place.cwd]: { mcpServers: { local: { command: "l" } } } },
    });
    expect(JSON.parse((await patchbay("--json")).stdout).servers).toMatchObject([{ name: "user" }]);
    const { servers } = JSON.parse((await patchbay("--json", "--project")).stdout);
    expect(servers).toMatchObject([
      { name: "local", entry: { command: "l", cwd: place.cwd } },
      { name: "a", entry: { command: "other", cwd: place.cwd }, taken: true },
      { name: "user" },
      {
        name: "a",
        entry: { command: `${place.cwd}/a` },
        state: "conflict",
        taken: false,
        why: expect.stringMatching(/^Claude Code has another/),
      },
    ]);
    expect(JSON.parse((await patchbay("vscode", "--json", "--project")).stdout).servers).toHaveLength(1);
  });

  it("several at once lose nothing of one another", async () => {
    const names = ["a", "b", "c", "d"];
    const servers = names.map((name) => [name, { command: name }]);
    put(".cursor/mcp.json", { mcpServers: Object.fromEntries(servers) });
    const all = await Promise.all(names.map((name) => patchbay("cursor", "--write", "--server", name)));
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(Object.keys(JSON.parse(own()).mcpServers).sort()).toEqual(names);
  });

  it("writes nothing that could not be read again, and takes no longer for many servers", async () => {
    const many = Array.from({ length: 25_000 }, (_, index) => [`s${index}`, { command: "x" }]);
    put(".cursor/mcp.json", { mcpServers: Object.fromEntries(many) });
    const written = await patchbay("cursor", "--write");
    expect([written.code, written.stderr]).toEqual([
      1,
      expect.stringContaining("would be larger than 1 MiB: take over fewer servers"),
    ]);
    expect(own).toThrow("ENOENT");
  });

  it("refuses what there is not, and tells of files that are not JSON", async () => {
    expect(await patchbay("cursr")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/Did you mean "cursor"\?/),
    });
    expect(await patchbay("-s", "none")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no server "none"/),
    });
    put(".cursor/mcp.json", '{"mcpServers": canary}');
    const { code, stdout, stderr } = await patchbay("cursor", "--project");
    expect([code, stdout]).toEqual([0, "No servers of other applications were found.\n"]);
    expect(stderr).toMatch(/warning: Cursor: .*mcp\.json: it is not JSON/);
    expect(stderr).not.toContain("canary");
  });
});
