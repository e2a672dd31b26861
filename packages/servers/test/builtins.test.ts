/** The registry: each server that is named can be loaded, and answers to its name; what it is told is read by its type. */

import { connect } from "@patchbay/client";
import { describe, expect, it, test } from "vitest";
import { allOf } from "../src/all.ts";
import { type Builtin, NotConfiguredError, Settings, SettingsError } from "../src/builtin.ts";
import { builtins } from "../src/index.ts";

/** Those that need nothing to be offered. */
const FREE = ["calculator", "weather", "web", "everything", "all"];

it.each(FREE)("%s answers to its name", async (name) => {
  const server = await builtins.get(name)?.load({ warn: () => {} });
  if (server === undefined) throw new Error(`no ${name}`);
  const client = await connect(server);
  expect(client.server?.name).toBe(name);
  expect((await client.listTools()).length).toBeGreaterThan(0);
  await client.close();
});

it.each([...builtins])("%s says in one line what it offers", (_name, { description, options = [] }) => {
  expect(description).not.toContain("\n");
  for (const { flags } of options) expect(flags).toMatch(/^--[a-z-]+( <[a-z-]+>)?$/);
});

describe("all", () => {
  const told: unknown[] = [];
  const notes: Builtin = {
    description: "Notes",
    operand: { name: "folder", description: "where they are", many: true },
    options: [
      { flags: "--max-notes <n>", description: "how many" },
      { flags: "--read-only", description: "no new ones" },
    ],
    environment: ["NOTES_KEY"],
    async load(settings) {
      const { operands, options } = new Settings(settings);
      told.push({ operands, options });
      const { McpServer } = await import("@patchbay/server");
      return new McpServer({ name: "notes", version: "1.0.0" }, { instructions: "Be brief." }).tool(
        "add",
        {},
        () => "kept",
      );
    },
  };
  const locked: Builtin = {
    description: "Needs a key",
    load: () => Promise.reject(new NotConfiguredError("LOCKED_KEY is not set")),
  };
  const all = allOf(
    new Map([
      ["notes", notes],
      ["locked", locked],
      ["everything", notes],
    ]),
  );

  it("has the options of each, after its name", () => {
    expect(all.options?.map(({ flags }) => flags)).toEqual([
      "--without <name>",
      "--notes <folder>",
      "--notes-max-notes <n>",
      "--notes-read-only",
    ]);
    expect(all.environment).toEqual(["NOTES_KEY"]);
  });

  it("hands each what it is told, leaves out what lacks something, and says so", async () => {
    told.length = 0;
    const warnings: string[] = [];
    const server = await all.load({
      options: { notes: ["a", "b"], "notes-max-notes": "3", "notes-read-only": true },
      warn: (text) => warnings.push(text),
    });
    expect(told).toEqual([{ operands: ["a", "b"], options: { "max-notes": "3", "read-only": true } }]);
    expect(warnings).toEqual(["locked is left out: LOCKED_KEY is not set"]);
    expect(server.instructions).toBe("notes_*: Be brief.");
    const client = await connect(server);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(["notes_add"]);
    await client.close();
  });

  it("leaves out what it is told to, and knows what it has", async () => {
    const none = await all.load({ options: { without: ["notes", "locked"] } });
    expect(none.capabilities.tools).toBeUndefined();
    await expect(all.load({ options: { without: ["note"] } })).rejects.toThrow('Did you mean "notes"?');
  });
});

test("settings are read by their types", () => {
  const settings = new Settings({
    options: { many: "7", none: "seven", flag: true },
    environment: { EMPTY: "", LIMIT: "20" },
  });
  expect(settings.has("flag")).toBe(true);
  expect(settings.count("many")).toBe(7);
  expect(settings.count("absent")).toBeUndefined();
  expect(() => settings.count("none")).toThrow(
    new SettingsError('--none takes a whole number from 1, not "seven"'),
  );
  expect(() => settings.count("many", 1, 5)).toThrow("from 1 to 5");
  expect(settings.variable("EMPTY")).toBeUndefined();
  expect(settings.countVariable("LIMIT")).toBe(20);
});
