/** Skills (SEP-2640): a file is used only when it is what its entry says. */

import { createHash } from "node:crypto";
import type { JsonObject } from "@patchbay/core";
import { describe, expect, test } from "vitest";
import { connect, InvalidResponseError } from "../src/index.ts";
import { type Asked, MODERN, scripted } from "./scripted.ts";

const URI = "skill://pdf/SKILL.md";
const FORMS = "skill://pdf/forms.bin";
const frontmatter = { name: "pdf", description: "Fill in forms", metadata: { tags: ["a", "b"], version: 1 } };
const SKILL_MD =
  "---\ndescription: Fill in forms\nname: pdf\nmetadata:\n  version: 1\n  tags: [a, b]\n---\n\nBody.\n";
const BYTES = Buffer.from([0, 1, 254, 255]);

function entry(uri: string, bytes: Buffer | string, change: JsonObject = {}): JsonObject {
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  return { uri, digest, size: Buffer.byteLength(bytes), ...change };
}

async function listed(read: (uri: string) => JsonObject, skill: JsonObject = {}) {
  const resources = [entry(URI, SKILL_MD), entry(FORMS, BYTES)];
  const server = scripted({
    ...MODERN,
    "server/discover": () => ({
      supportedVersions: ["2026-07-28"],
      capabilities: { resources: {}, extensions: { "io.modelcontextprotocol/skills": {} } },
    }),
    "skills/list": () => ({ skills: [{ uri: URI, frontmatter, resources, ...skill }] }),
    "resources/read": ({ params }: Asked) => ({ contents: [read(params.uri as string)], ttlMs: 60_000 }),
  });
  const client = await connect(server);
  await client.listSkills();
  return { client, server };
}

const fine = (uri: string): JsonObject =>
  uri === FORMS
    ? { uri, blob: BYTES.toString("base64") }
    : { uri, text: uri === URI ? SKILL_MD : "anything" };

test("files that are what their entries say are given; nothing is fetched ahead", async () => {
  const { client, server } = await listed(fine);
  expect(server.received.map(({ method }) => method)).toEqual(["server/discover", "skills/list"]);
  expect((await client.readResource(URI)).contents).toEqual([{ uri: URI, text: SKILL_MD }]);
  expect((await client.readResource(FORMS)).contents).toHaveLength(1);
  expect((await client.readResource("skill://other")).contents).toHaveLength(1);
});

describe("is an error, and nothing that is kept:", () => {
  test.each<[string, (uri: string) => JsonObject, string]>([
    ["another digest", (uri) => ({ uri, text: SKILL_MD.replace("Body.", "Evil!") }), "digest"],
    ["another size", (uri) => ({ uri, text: `${SKILL_MD}more` }), "bytes"],
    ["another file", () => ({ uri: "skill://other", text: SKILL_MD }), "one file"],
  ])("%s", async (_, read, message) => {
    const { client, server } = await listed(read);
    for (const _ of [1, 2]) {
      const error = await client.readResource(URI).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(InvalidResponseError);
      expect(error.message).toContain(message);
    }
    expect(server.received.filter(({ method }) => method === "resources/read")).toHaveLength(2);
  });

  test.each([
    ["another frontmatter", SKILL_MD.replace("Fill in", "Steal"), "is not the one"],
    ["none", "Body.", "no frontmatter"],
    ["one that cannot be read", "---\na: &x [*x\n---\n", "cannot be read"],
    ["one that grows by aliases", "---\na: &x [1]\nb: *x\n---\n", "cannot be read"],
  ])("%s", async (_, text, message) => {
    const { client } = await listed((uri) => ({ uri, text }), { resources: [entry(URI, text)] });
    await expect(client.readResource(URI)).rejects.toThrow(message);
  });
});

test("an entry that cannot be checked by is no entry", async () => {
  const skill = { resources: [entry(URI, SKILL_MD, { digest: "md5:0" })] };
  await expect(listed(fine, skill)).rejects.toThrow("skills[0] has a resource without");
});

test("a server without skills has none", async () => {
  expect(await (await connect(scripted(MODERN))).listSkills()).toEqual([]);
});
