/** What `patchbay serve files` is told, as the server takes it. */

import { connect } from "@patchbay/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Builtin, type BuiltinSettings, SettingsError } from "../../src/builtin.ts";
import { builtins } from "../../src/index.ts";
import { type Folder, openFolder } from "./folder.ts";

let folder: Folder;
beforeAll(async () => {
  folder = await openFolder();
  await folder.put("a.txt", "0123456789\n".repeat(10));
});
afterAll(() => folder.close());

/** The tools that it has when it is told so, and what it says of a file. */
async function served(
  options: BuiltinSettings["options"],
  operands = [folder.root],
): Promise<{ tools: string[]; read: unknown }> {
  const client = await connect(await (builtins.get("files") as Builtin).load({ operands, options }));
  const tools = (await client.listTools()).map(({ name }) => name);
  const { structuredContent: read } = await client.callTool("read_file", { path: "a.txt" });
  await client.close();
  return { tools, read };
}

test("folders, what is allowed and limits are those of the command line", async () => {
  expect((await served({ "read-only": true })).tools).not.toContain("write_file");
  const { tools, read } = await served({ "allow-delete": true, limit: ["maxReadBytes=25", "maxEntries=3"] });
  expect(tools).toContain("delete");
  expect(read).toMatchObject({ truncated: true, nextLine: 3 });
});

test("what cannot be right is said as it is to be put right", async () => {
  const failure = async (options: BuiltinSettings["options"], operands?: string[]) => {
    const error = await served(options, operands).then(
      () => expect.fail("it is served"),
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(SettingsError);
    return error.message;
  };
  expect(await failure({}, ["/no/such"])).toBe('files: "/no/such" is no folder');
  expect(await failure({}, [""])).toBe('files: "" is no folder');
  expect(await failure({ "read-only": true, "allow-delete": true })).toContain("exclude each other");
  expect(await failure({ limit: ["maxReadBytes"] })).toContain("--limit takes a name and a number");
  expect(await failure({ limit: ["maxReed=1"] })).toContain('there is no limit "maxReed"; there are');
});
