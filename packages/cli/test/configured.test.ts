// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own variables
/** The commands with a configuration file and a .env beside them. */

import { rmSync, writeFileSync } from "node:fs";
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
    const words = ["call", "own", "environment", "name=SECRET"];
    expect(await run(words, { cwd, env: { WHERE: FIXTURE } })).toMatchObject({
      code: 0,
      stdout: "from-file\n",
    });
  });

  it("bounds a server's requests", async () => {
    configure({ own: { command: process.execPath, args: [FIXTURE], timeout: 1000 } });
    const { code, stdout, stderr } = await patchbay("call", "own", "hang");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/error: .*timeout \(1000 ms\)/);
  });

  it("names an unset variable: exit 2", async () => {
    configure({ own: { command: "node", env: { KEY: "${PATCHBAY_UNSET}" } } });
    const { code, stderr } = await patchbay("tools", "own");
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
});
