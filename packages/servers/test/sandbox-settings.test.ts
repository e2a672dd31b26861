/** The options of the shell and code servers, as a command line gives them. */

import { connect } from "@patchbay/client";
import { expect, it } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { builtins, SettingsError } from "../src/index.ts";

const load = async (name: string, options: Record<string, string | true>) => {
  const warnings: string[] = [];
  const server = await builtins.get(name)?.load({ options, warn: (text) => warnings.push(text) });
  if (server === undefined) throw new Error(`no ${name}`);
  return { server, warnings };
};

/** What the input schema of a tool says of a property. */
async function property(server: Awaited<ReturnType<typeof load>>["server"], tool: string, name: string) {
  const client = await connect(server);
  const found = (await client.listTools()).find((each) => each.name === tool);
  await client.close();
  return (found?.inputSchema.properties as Record<string, object> | undefined)?.[name];
}

needs("bwrap")("serve", () => {
  it("hands its options to the shell and the code server", async () => {
    const shell = await load("shell", { timeout: "5", "max-timeout": "7" });
    expect(await property(shell.server, "bash", "timeout")).toMatchObject({ default: 5, maximum: 7 });
    const code = await load("code", { "max-timeout": "9" });
    expect(await property(code.server, "run_code", "timeout")).toMatchObject({ default: 9, maximum: 9 });
    expect([...shell.warnings, ...code.warnings]).toEqual([]);
  });

  it("offers them among all", async () => {
    const { server } = await load("all", { "shell-max-timeout": "8" });
    expect(await property(server, "shell_bash", "timeout")).toMatchObject({ maximum: 8 });
    expect(await property(server, "code_run_code", "language")).toBeDefined();
  });
});

it.each(["shell", "code"])("warns where %s does without a sandbox", async (name) => {
  const { warnings } = await load(name, { "unsafe-no-sandbox": true });
  expect(warnings).toEqual([expect.stringContaining("--unsafe-no-sandbox: commands run WITHOUT a sandbox")]);
});

it("refuses what is no number", async () => {
  await expect(load("shell", { "max-memory-bytes": "much" })).rejects.toThrow(SettingsError);
});
