/**
 * The wire, kept as files: what came in, and what must go out, for each revision and transport.
 * `UPDATE_TRANSCRIPTS=1` writes what goes out anew; what comes in is edited by hand.
 */

import { readdir, readFile, writeFile } from "node:fs/promises";
import { eraOf, REVISIONS } from "@patchbay/core";
import { expect, test } from "vitest";
import { serveHttp } from "../src/transports/http.ts";
import {
  overChannel,
  overHttp,
  readTranscript,
  replay,
  type Section,
  writeTranscript,
} from "./transcripts/replay.ts";
import { transcriptServer } from "./transcripts/server.ts";
import { stdio } from "./wire.ts";

const FOLDER = new URL("transcripts/", import.meta.url);
const updating = process.env.UPDATE_TRANSCRIPTS === "1";

type Replay = (sections: Section[]) => Promise<Section[]>;

const replayStdio: Replay = async (sections) => {
  const channel = stdio(transcriptServer());
  const played = await replay(sections, overChannel(channel), updating);
  await channel.close();
  return played;
};

const replayHttp: Replay = async (sections) => {
  const serving = await serveHttp(transcriptServer(), { port: 0 });
  const played = await replay(sections, overHttp(new URL(serving.url)), updating);
  await serving.close(0);
  return played;
};

const TRANSCRIPTS: [file: string, again: Replay][] = [
  ...REVISIONS.map((revision): [string, Replay] => [`stdio-${revision}.txt`, replayStdio]),
  ...REVISIONS.map((revision): [string, Replay] => [`http-${revision}.txt`, replayHttp]),
  ["sse-2024-11-05.txt", replayHttp],
];

test("there is a transcript of each revision on each transport, and no other", async () => {
  const files = (await readdir(FOLDER)).filter((file) => !file.endsWith(".ts"));
  expect(files.sort()).toEqual(TRANSCRIPTS.map(([file]) => file).sort());
});

test.each(TRANSCRIPTS)("%s", { timeout: updating ? 60_000 : 20_000 }, async (file, again) => {
  const text = await readFile(new URL(file, FOLDER), "utf8");
  const sections = readTranscript(text);
  expect(sections.length).toBeGreaterThan(10);
  const played = writeTranscript(await again(sections));
  if (updating) await writeFile(new URL(file, FOLDER), played);
  else expect(played).toBe(text);
});

test.each(REVISIONS)("%s asks, cancels, and tells of changes in its own way", async (revision) => {
  const text = await readFile(new URL(`stdio-${revision}.txt`, FOLDER), "utf8");
  const outgoing = text.split("\n").filter((line) => line.startsWith("< "));
  const says = (what: string) => outgoing.some((line) => line.includes(what));
  const modern = eraOf(revision) === "modern";
  expect(says('"resultType":"input_required"')).toBe(modern);
  expect(says('"method":"elicitation/create"')).toBe(modern || revision >= "2025-06-18");
  expect(says("notifications/resources/updated")).toBe(true);
  expect(says("1 cancelled")).toBe(true);
  expect(says("never seen")).toBe(false);
  expect(says("the operator may know")).toBe(false);
});
