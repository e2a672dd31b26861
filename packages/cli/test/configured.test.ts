// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own variables
/** The commands with a configuration file and a .env beside them. */

import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { emptyFolder, FIXTURE, run } from "./patchbay.ts";

// Each test starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

let cwd: string;
const folders: string[] = [];
beforeEach(() => {
  cwd = emptyFolder();
  folders.push(cwd);
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});
const patchbay = (...words: string[]) => run(words, { cwd });

describe("the configuration", () => {
  const configure = (mcpServers: object, file = "mcp.json") =>
    writeFileSync(join(cwd, file), JSON.stringify({ mcpServers }));

  it("names servers, with variables of the environment and of .env", async () => {
    configure({ own: { command: process.execPath, args: ["${WHERE}"], env: { SECRET: "${TOKEN:-none}" } } });
    writeFileSync(join(cwd, ".env"), "TOKEN=from-file\nWHERE=/wrong\n");
    const words = ["call", "own", "environment", "name=SECRET", "--yes"];
    expect(await run(words, { cwd, env: { WHERE: FIXTURE } })).toMatchObject({
      code: 0,
      stdout: "from-file\n",
    });
  });

  it("bounds a server's requests", async () => {
    configure({ own: { command: process.execPath, args: [FIXTURE], timeout: 1000 } });
    const { code, stdout, stderr } = await patchbay("call", "own", "hang", "--yes");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/error: .*timeout \(1000 ms\)/);
  });

  it("names an unset variable: exit 2", async () => {
    configure({ own: { command: "node", env: { KEY: "${PATCHBAY_UNSET}" } } });
    const { code, stderr } = await patchbay("tools", "own", "--yes");
    expect(code).toBe(2);
    expect(stderr).toMatch(/mcp\.json: mcpServers\.own\.env\.KEY: .*PATCHBAY_UNSET is not set/);
  });

  it("says what is wrong in it, and warns of what is odd", async () => {
    configure({ own: { comand: "node" } });
    expect(await patchbay("tools", "own")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/"comand"/),
    });
    configure({ own: { command: process.execPath, args: [FIXTURE], timout: 5 } }, "other.json");
    const { code, stderr } = await patchbay("call", "own", "echo", "text=x", "--config", "other.json");
    expect([code, stderr]).toEqual([
      0,
      'warning: other.json: mcpServers.own.timout is unknown and ignored; did you mean "timeout"?\n',
    ]);
  });

  it("leaves out a server whose entry is wrong, by its name; the rest answers", async () => {
    const down = { command: process.execPath, args: ["-e", "process.exit(3)"] };
    const own = { command: process.execPath, args: [FIXTURE] };
    configure({ unset: { command: "${PATCHBAY_UNSET}" }, down, off: { command: "x", disabled: true }, own });
    const { code, stdout, stderr } = await patchbay("ask", "echo: here", "--yes");
    expect([code, stdout]).toEqual([0, "here\n"]);
    expect(stderr).toMatch(
      /warning: mcp\.json: mcpServers\.unset\.command: .*PATCHBAY_UNSET.* It is left out\.\n/,
    );
    expect(stderr).toMatch(/warning: down: [\s\S]* exited with code 3[\s\S]* It is left out\.\n/);
    expect(stderr).not.toMatch(/\boff\b/);
    expect(await patchbay("tools", "off")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is disabled/),
    });
  });

  it("prefixes tools of one name with their servers' names", async () => {
    const own = { command: process.execPath, args: [FIXTURE] };
    configure({ one: own, two: own });
    expect(await patchbay("ask", "two/echo: here", "--yes")).toMatchObject({
      code: 0,
      stdout: "here\n",
      stderr: expect.stringMatching(/→ two: echo /),
    });
  });
});

describe("a folder's own configuration", () => {
  const configure = (entry: object) =>
    writeFileSync(join(cwd, "mcp.json"), JSON.stringify({ mcpServers: { own: entry } }));

  const own = { command: process.execPath, args: [FIXTURE], env: { SECRET: "canary-1" } };
  const call = (...more: string[]) => patchbay("call", "own", "environment", "name=SECRET", ...more);
  const trusted = () => readFileSync(join(cwd, "patchbay", "trust.json"), "utf8");

  it("is not used before it is agreed to, by approve or --yes", async () => {
    configure(own);
    for (const words of [["tools", "own"], ["ask", "1+1"], ["doctor"]]) {
      const { code, stdout, stderr } = await patchbay(...words);
      expect(code).not.toBe(0);
      expect(stdout + stderr).toMatch(
        /mcp\.json: mcpServers\.own: it is a folder's own, and you have not agreed to it\. .*patchbay approve own \(or --yes\)/,
      );
    }
    expect(existsSync(join(cwd, "patchbay", "trust.json"))).toBe(false);
    expect(await call("--yes")).toMatchObject({ code: 0, stdout: "canary-1\n" });
    expect((await call()).code).toBe(0);
  });

  it("is not used when it has changed, until that is approved", async () => {
    configure(own);
    expect((await patchbay("approve")).code).toBe(0);
    configure({ ...own, timeout: 9_000 });
    expect(await call()).toMatchObject({ code: 0, stdout: "canary-1\n" });
    configure({ ...own, args: [...own.args, "more"], env: { SECRET: "canary-2" } });
    const refused = await call("--yes");
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toBe(
      "error: mcp.json: mcpServers.own: it has changed since you agreed to it (args). " +
        "See what it does, and agree: patchbay approve own\n",
    );
    const approved = await patchbay("approve", "own");
    expect(approved).toMatchObject({
      code: 0,
      stdout: `approved: mcp.json: "own" starts ${process.execPath} ${FIXTURE} more, given SECRET\n`,
    });
    expect(await call()).toMatchObject({ code: 0, stdout: "canary-2\n" });
    expect((await patchbay("approve")).stdout).toMatch(/^was approved already: /);
    expect(await patchbay("approve", "none")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/has no server none/),
    });
    // A variable's value alone is a change too, and no value is kept.
    configure({ ...own, args: [...own.args, "more"], env: { SECRET: "canary-3" } });
    expect((await call()).stderr).toMatch(/it has changed .* \(values of variables or headers\)/);
    expect(trusted()).not.toContain("canary");
  });

  it("is agreed to once for all commands, and its tools stay pinned", async () => {
    configure(own);
    expect((await patchbay("approve")).code).toBe(0);
    const before = trusted();
    expect((await patchbay("ask", "environment: SECRET", "--yes")).stdout).toBe("canary-1\n");
    const { servers } = JSON.parse(trusted()) as {
      servers: Record<string, { identity: object; tools: object }>;
    };
    const [key = ""] = Object.keys(servers);
    expect(JSON.parse(before).servers[key].identity).toEqual(servers[key]?.identity);
    expect(Object.keys(servers)).toEqual([key]);
    const tools = servers[key]?.tools;
    expect(tools).toHaveProperty("environment");
    await patchbay("approve");
    expect((await call()).code).toBe(0);
    expect(JSON.parse(trusted()).servers).toEqual(servers);
  });

  it("is the user's where they name the file", async () => {
    configure({ command: process.execPath, args: [FIXTURE] });
    rmSync(join(cwd, "other.json"), { force: true });
    cpSync(join(cwd, "mcp.json"), join(cwd, "other.json"));
    expect((await patchbay("call", "own", "echo", "text=x", "--config", "other.json")).code).toBe(0);
    expect(existsSync(join(cwd, "patchbay", "trust.json"))).toBe(false);
  });
});
