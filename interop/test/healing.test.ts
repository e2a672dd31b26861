/** Servers of the official SDKs that are restarted: the session is opened anew, and what was asked for is had again. */

import { fileURLToPath } from "node:url";
import { connect } from "@patchbay/client";
import { describe, expect, test } from "vitest";
import { type Attendance, takeAttendance } from "../processes/attendance.ts";
import { startHttpServer } from "../processes/http-server.ts";

const pathOf = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url));

const EVERYTHING = [
  "--import",
  new URL("../processes/announce-port.mjs", import.meta.url).href,
  pathOf("node_modules/@modelcontextprotocol/server-everything/dist/index.js"),
  "streamableHttp",
];

/** How each answers who comes with a session that it does not know. */
const SERVERS = [
  { name: "SDK v1", args: [pathOf("servers/sdk-v1.mjs"), "http"], watched: "note:///1", status: 404 },
  { name: "SDK v2", args: [pathOf("servers/sdk-v2.mjs"), "http"], watched: "note:///1", status: 404 },
  { name: "server-everything", args: EVERYTHING, watched: "demo://resource/dynamic/text/1", status: 400 },
];

/** Does something with a server that can be restarted where it was. */
async function restarting(
  args: readonly string[],
  work: (url: string, restart: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const attendance: Attendance = await takeAttendance();
  let server = await startHttpServer(args, { ...attendance.env, PORT: "0" });
  const { url } = server;
  try {
    await work(url, async () => {
      await server.stop();
      server = await startHttpServer(args, { ...attendance.env, PORT: new URL(url).port });
    });
  } finally {
    await server.stop();
    await attendance.close();
  }
}

describe.each(SERVERS)("$name, restarted", ({ args, watched, status }) => {
  test("is used in a new session, once for all callers", async () => {
    await restarting(args, async (url, restart) => {
      const lost: unknown[] = [];
      const warnings: Error[] = [];
      const client = await connect(url, {
        era: "legacy",
        onSessionLost: (why) => lost.push(why),
        onWarning: (warning) => warnings.push(warning),
      });
      await client.listen({ resourceSubscriptions: [watched] }, () => {});
      await restart();
      const calls = Array.from({ length: 20 }, (_, n) => client.callTool("echo", said(`${n}`)));
      const texts = (await Promise.all(calls)).map(({ content }) => (content[0] as { text: string }).text);
      expect(texts.map((text) => Number(/\d+$/.exec(text)?.[0]))).toEqual(calls.map((_, n) => n));
      expect(lost).toMatchObject([{ reason: "refused", status }]);
      // A resource that is watched in the new session can be let go in it.
      await client.request("resources/unsubscribe", { uri: watched });
      expect(warnings).toEqual([]);
      await client.close();
    });
  });
});

test("SDK v2, restarted, has no session that a modern client could lose", async () => {
  await restarting([pathOf("servers/sdk-v2.mjs"), "http"], async (url, restart) => {
    const lost: unknown[] = [];
    const client = await connect(url, { era: "modern", onSessionLost: (why) => lost.push(why) });
    await client.callTool("echo", said("1"));
    await restart();
    expect(await client.callTool("echo", said("2"))).toMatchObject({ content: [{ text: "2" }] });
    expect(lost).toEqual([]);
    await client.close();
  });
});

/** Both spellings that the servers have. */
function said(text: string) {
  return { text, message: text };
}
