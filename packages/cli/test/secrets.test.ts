// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own variables
/** No message shows what a configuration keeps for its server. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { secretsOfUrl, shownUrl, withoutSecrets } from "../src/secrets.ts";
import { emptyFolder, run } from "./patchbay.ts";

vi.setConfig({ testTimeout: 60_000 });

let cwd: string;
beforeAll(() => {
  cwd = emptyFolder();
});
afterAll(() => rmSync(cwd, { recursive: true }));

it("shows of a URL neither user nor query", () => {
  const url = "https://me:canary1@host.example/mcp?key=canary2&b=can%20ary3";
  expect(shownUrl(url)).toBe("https://host.example/mcp?…");
  const said = `${url} failed: canary1, canary2, can ary3, can%20ary3`;
  expect(withoutSecrets(said, secretsOfUrl(url))).toBe("https://host.example/mcp?… failed: …, …, …, …");
});

it.each([
  ["doctor"],
  ["doctor", "--json"],
  ["tools", "far"],
  ["tools", "far", "--json"],
  ["tools", "near"],
  ["tools", "near", "--json"],
])("%s %s %s says nothing of them", async (...words) => {
  const script = "console.error(process.argv.slice(1).join(), process.env.KEY); process.exit(1)";
  const servers = {
    far: {
      url: "http://u:canary1@127.0.0.1:1/mcp?k=canary2&v=${FAR}",
      headers: { "X-Key": "Bearer canary3" },
    },
    near: { command: process.execPath, args: ["-e", script, "${ARG}"], env: { KEY: "${KEY_VALUE}" } },
  };
  writeFileSync(join(cwd, "mcp.json"), JSON.stringify({ mcpServers: servers }));
  const env = { FAR: "canary4", ARG: "canary5", KEY_VALUE: "canary6" };
  const { code, stdout, stderr } = await run(words.filter(Boolean), { cwd, env });
  expect(code).not.toBe(0);
  expect(stdout + stderr).not.toMatch(/canary/);
});
