// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own variables
/** What a server's process sees of the environment: what it declares, and nobody else's keys. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtins } from "@patchbay/servers";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type OpenMeteo, startOpenMeteo } from "../../servers/test/open-meteo.ts";
import { VARIABLES } from "../src/config/known-variables.ts";
import { Interrupts } from "../src/interrupts.ts";
import { Output } from "../src/output.ts";
import { findTarget } from "../src/targets.ts";
import { FIXTURE, run } from "./patchbay.ts";
import { workplace } from "./workplace.ts";

// Each test starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

const place = workplace();
let meteo: OpenMeteo;
beforeAll(async () => {
  meteo = await startOpenMeteo();
});
afterAll(() => meteo.close());

/** Whatever a user may have in their shell. */
const CANARIES = Object.fromEntries(
  [...Object.keys(VARIABLES), "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"].map((name) => [
    name,
    `canary-${name}`,
  ]),
);

it.each([...builtins.keys()])("%s is given what it declares, and no more", async (name) => {
  vi.stubEnv("XDG_CONFIG_HOME", place.cwd);
  for (const [variable, value] of Object.entries(CANARIES)) vi.stubEnv(variable, value);
  try {
    const output = new Output();
    const { signal } = new AbortController();
    const context = {
      output,
      signal,
      interrupts: new Interrupts(),
      command: undefined,
      fromFile: new Set<string>(),
    };
    const { to } = await findTarget(name, {}, context);
    const declared = builtins.get(name)?.environment ?? [];
    expect("env" in to && to.env).toEqual(Object.fromEntries(declared.map((each) => [each, CANARIES[each]])));
    // And no message shows it.
    for (const variable of declared)
      expect(output.without(`x ${CANARIES[variable]}`)).toBe(`x [${variable}]`);
  } finally {
    vi.unstubAllEnvs();
  }
});

it("what the shell sets reaches the server that declares it", async () => {
  const env = { OPEN_METEO_URL: meteo.url, OPEN_METEO_GEOCODING_URL: meteo.url };
  const { code, stdout } = await run(["call", "weather", "get_weather", "city=Beijing"], {
    cwd: place.cwd,
    env,
  });
  expect([code, stdout]).toEqual([0, expect.stringContaining("Beijing")]);
  expect(meteo.asked).not.toEqual([]);
});

it("no other server's process sees any of it", async () => {
  const own = { command: process.execPath, args: [FIXTURE], env: { GIVEN: "${GITHUB_TOKEN}" } };
  writeFileSync(join(place.cwd, "mcp.json"), JSON.stringify({ mcpServers: { own } }));
  const { MODEL_PROVIDER: _, ...env } = CANARIES;
  const seen = await run(["call", "own", "environment", "name=", "--yes"], { cwd: place.cwd, env });
  expect(seen.code).toBe(0);
  const all = JSON.parse(seen.stdout);
  expect(all).toMatchObject({ GIVEN: "canary-GITHUB_TOKEN", PATH: expect.any(String) });
  const canaries = Object.entries(all).filter(([, value]) => String(value).includes("canary"));
  expect(canaries).toEqual([["GIVEN", "canary-GITHUB_TOKEN"]]);
});
