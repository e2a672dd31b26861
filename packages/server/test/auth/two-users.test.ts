/** Two users of one server: what is one's is not there for the other, whatever they know of it. */

import { META, TASKS_EXTENSION } from "@patchbay/core";
import { afterEach, describe, expect, test } from "vitest";
import { McpServer } from "../../src/index.ts";
import {
  type HttpServing,
  memorySessions,
  type SessionStore,
  sealedSessions,
  type VerifyToken,
} from "../../src/transports/http.ts";
import { Events } from "../streamable.ts";
import { type Json, MODERN_META } from "../wire.ts";
import { answerOf, bearer, call, guarded, legacy, modern, textOf, whoami } from "./guarded.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

/** A token is `issuer/subject`, and anything after it. */
const verify: VerifyToken = (token) => {
  const [issuer = "", subject = ""] = token.split("/");
  return { issuer, subject, expiresAt: Date.now() + 60_000 };
};
const META_TASKS = {
  ...MODERN_META,
  [META.clientCapabilities]: {
    ...MODERN_META[META.clientCapabilities],
    extensions: { [TASKS_EXTENSION]: {} },
  },
};
const ANN = "one/ann/1";
/** Hers again: a session outlives the token that opened it. */
const ANN_LATER = "one/ann/2";
const BOB = "one/bob/1";
/** The subject of another issuer's that happens to be the same. */
const OTHER_ANN = "two/ann/1";

const STORES: [string, () => SessionStore][] = [
  ["memory", () => memorySessions()],
  ["sealed", () => sealedSessions({ secrets: ["0123456789abcdef0123456789abcdef"] })],
];

async function serve(sessions?: SessionStore, server = whoami()): Promise<HttpServing> {
  const serving = await guarded(server, { verify }, sessions && { sessions });
  open.push(serving);
  return serving;
}

describe.each(STORES)("a session in %s", (_name, store) => {
  test("is nobody else's, on each verb, and nothing that they do hurts it", async () => {
    const serving = await serve(store());
    const session = await legacy(serving, ANN);
    for (const token of [BOB, OTHER_ANN]) {
      const tried = [
        await session.post(call(1, "whoami"), token),
        await session.post(
          { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
          token,
        ),
        await session.post({ jsonrpc: "2.0", id: 1, result: {} }, token),
        await session.post({ jsonrpc: "2.0", id: 2, method: "tasks/list" }, token),
        await session.get(token),
        await session.get(token, { "last-event-id": "x.1" }),
        await session.delete(token),
      ];
      expect(tried.map(({ status }) => status)).toEqual(tried.map(() => 404));
      // As if there were none.
      const unknown = await fetch(serving.url, {
        method: "DELETE",
        headers: { "mcp-session-id": crypto.randomUUID(), ...bearer(token) },
      });
      expect(await tried.at(-1)?.text()).toBe(await unknown.text());
    }
    expect(await answerOf(session.post(call(3, "whoami"), ANN_LATER))).toMatchObject({ id: 3 });
    expect((await session.delete(ANN_LATER)).status).toBe(204);
    expect((await session.post(call(4, "whoami"))).status).toBe(404);
  });

  test("that asks its user hears no other's answer, nor their cancelling", async () => {
    const serving = await serve(store());
    const session = await legacy(serving, ANN);
    const events = new Events(await session.post(call(1, "sure", { of: "it" })));
    const asked = await events.message();
    const answer = (content: Json) => ({
      jsonrpc: "2.0",
      id: asked.id,
      result: { action: "accept", content },
    });
    expect((await session.post(answer({ sure: true }), BOB)).status).toBe(404);
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    expect((await session.post(cancel, BOB)).status).toBe(404);
    // Nor one that is sent to a session of theirs.
    const bobs = await legacy(serving, BOB);
    expect((await bobs.post(answer({ sure: true }))).status).toBe(400);
    expect((await bobs.post(cancel)).status).toBe(202);
    const decline = { jsonrpc: "2.0", id: asked.id, result: { action: "decline" } };
    expect((await session.post(decline)).status).toBe(202);
    expect(textOf(await events.message())).toBe("ann: decline");
  });

  test("has a stream that nobody else goes on with", async () => {
    const serving = await serve(store());
    const session = await legacy(serving, ANN);
    const events = new Events(await session.post(call(1, "sure", { of: "it" })));
    const first = await events.next();
    const lastEventId = first?.id ?? "";
    expect(lastEventId).not.toBe("");
    expect((await session.get(BOB, { "last-event-id": lastEventId })).status).toBe(404);
    const bobs = await legacy(serving, BOB);
    // In a session of theirs it is a stream that is lost: they learn nothing of it.
    const lost = await (await bobs.get(BOB, { "last-event-id": lastEventId })).text();
    expect(lost).not.toContain("Sure of it?");
    const again = await session.get(ANN_LATER, { "last-event-id": lastEventId });
    expect(again.status).toBe(200);
    await again.body?.cancel();
    await session.delete();
  });

  test("has tasks that no other session has", async () => {
    const serving = await serve(store());
    const [anns, bobs] = await Promise.all([legacy(serving, ANN), legacy(serving, BOB)]);
    const made = await answerOf(anns.post(call(1, "slow", {}, { task: {} })));
    const { taskId } = made.result.task;
    for (const method of ["tasks/get", "tasks/cancel", "tasks/result"]) {
      const tried = await answerOf(bobs.post({ jsonrpc: "2.0", id: 2, method, params: { taskId } }));
      expect(tried.error.code).toBe(-32602);
    }
    expect((await answerOf(bobs.post({ jsonrpc: "2.0", id: 3, method: "tasks/list" }))).result.tasks).toEqual(
      [],
    );
    const list = await answerOf(anns.post({ jsonrpc: "2.0", id: 3, method: "tasks/list" }, ANN_LATER));
    expect(list.result.tasks.map((task: Json) => task.taskId)).toEqual([taskId]);
  });
});

test("a session that was opened without tokens is nobody's once they are asked for", async () => {
  const sessions = memorySessions();
  const before = await guarded(whoami(), undefined, { sessions });
  open.push(before);
  const session = await legacy(before, undefined);
  const after = await serve(sessions);
  const response = await fetch(after.url, {
    method: "DELETE",
    headers: { "mcp-session-id": session.id, ...bearer(ANN) },
  });
  expect(response.status).toBe(404);
});

test("a modern task is its maker's: looked at, answered, cancelled and watched by nobody else", async () => {
  const serving = await serve();
  const as = (token: string, method: string, params: Json) =>
    answerOf(modern(serving, token, method, { ...params, _meta: META_TASKS }));
  const made = await as(ANN, "tools/call", { name: "slow" });
  const { taskId } = made.result;
  expect(taskId).toBeDefined();
  for (const token of [BOB, OTHER_ANN]) {
    for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
      const tried = await as(token, method, { taskId, inputResponses: { "1": { action: "accept" } } });
      expect(tried.error.code).toBe(-32602);
      const unknown = await as(token, method, { taskId: "none", inputResponses: {} });
      expect(tried.error.message.replace(taskId, "none")).toBe(unknown.error.message);
    }
    const abort = new AbortController();
    const params = { notifications: { taskIds: [taskId] }, _meta: META_TASKS };
    const listening = new Events(await modern(serving, token, "subscriptions/listen", params, abort.signal));
    expect((await listening.message()).params.notifications).toEqual({ taskIds: [] });
    abort.abort();
  }
  let state = await as(ANN_LATER, "tasks/get", { taskId });
  while (state.result.status === "working") state = await as(ANN_LATER, "tasks/get", { taskId });
  expect(state.result.status).toBe("input_required");
  const [key = ""] = Object.keys(state.result.inputRequests);
  await as(ANN_LATER, "tasks/update", { taskId, inputResponses: { [key]: { action: "decline" } } });
  do state = await as(ANN, "tasks/get", { taskId });
  while (state.result.status !== "completed");
  expect(textOf(state.result)).toBe("ann: decline");
});

test("a requestState is taken up by nobody else", async () => {
  const serving = await serve();
  const params = { name: "sure", arguments: { of: "it" } };
  const asked = await answerOf(modern(serving, ANN, "tools/call", params));
  const { requestState, inputRequests } = asked.result;
  const [key = ""] = Object.keys(inputRequests);
  const retry = { ...params, requestState, inputResponses: { [key]: { action: "decline" } } };
  for (const token of [BOB, OTHER_ANN]) {
    const tried = await answerOf(modern(serving, token, "tools/call", retry));
    expect(tried.error.data.reason).toBe("foreign");
  }
  expect(textOf(await answerOf(modern(serving, ANN_LATER, "tools/call", retry)))).toBe("ann: decline");
});

test("a connection of HTTP+SSE is posted to by nobody else, and each message has its own token", async () => {
  const serving = await serve();
  const accept = { accept: "text/event-stream" };
  const events = new Events(
    await fetch(new URL("/sse", serving.url), { headers: { ...accept, ...bearer(ANN) } }),
  );
  const endpoint = new URL((await events.next())?.data ?? "", serving.url);
  const post = (message: Json, token: string | undefined) =>
    fetch(endpoint, {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(token) },
      body: JSON.stringify(message),
    });
  const ping = { jsonrpc: "2.0", id: 9, method: "ping" };
  expect((await post(ping, undefined)).status).toBe(401);
  for (const token of [BOB, OTHER_ANN]) expect((await post(ping, token)).status).toBe(404);
  const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  await post({ jsonrpc: "2.0", id: 1, method: "initialize", params }, ANN);
  expect(await events.message()).toMatchObject({ id: 1, result: {} });
  await post(call(2, "whoami"), ANN_LATER);
  expect(JSON.parse(textOf(await events.message()))).toMatchObject({ issuer: "one", subject: "ann" });
});

test("interleaved, each call is answered as its own user's", async () => {
  const serving = await serve();
  const users = [ANN, BOB, OTHER_ANN];
  const sessions = await Promise.all(users.map((token) => legacy(serving, token)));
  const expected = users.map((token) => token.split("/").slice(0, 2));
  for (let round = 0; round < 20; round++) {
    // The same id from all, at the same time.
    const answers = await Promise.all([
      ...sessions.map((session) => answerOf(session.post(call(0, "whoami")))),
      ...users.map((token) => answerOf(modern(serving, token, "tools/call", { name: "whoami" }))),
    ]);
    const who = answers
      .map((each) => JSON.parse(textOf(each)))
      .map(({ issuer, subject }) => [issuer, subject]);
    expect(who).toEqual([...expected, ...expected]);
  }
});

test("what one asks too often is not held against the other, in one session or many", async () => {
  const server = new McpServer(
    { name: "rated", version: "1" },
    { rates: { calls: { perSecond: 0.001, burst: 2 } }, onError: () => {} },
  );
  server.tool("whoami", {}, (_, { auth }) => `${auth?.subject}`);
  const serving = await serve(undefined, server);
  const status = async (token: string) =>
    (await modern(serving, token, "tools/call", { name: "whoami" })).status;
  expect([await status(ANN), await status(ANN_LATER), await status(ANN)]).toEqual([200, 200, 429]);
  const session = await legacy(serving, ANN);
  expect((await session.post(call(1, "whoami"))).status).toBe(429);
  expect([await status(BOB), await status(OTHER_ANN)]).toEqual([200, 200]);
});

test("who opens sessions without end makes room among their own, and refuses nobody else", async () => {
  const patient = await serve(memorySessions({ maxSessionsPerPrincipal: 2 }));
  const bobs = await legacy(patient, BOB);
  await legacy(patient, ANN);
  await legacy(patient, ANN);
  await expect(legacy(patient, ANN)).rejects.toThrow(/503.*maxSessionsPerPrincipal allows \(2\)/);
  await legacy(patient, BOB);
  expect((await bobs.post(call(1, "whoami"))).status).toBe(200);

  const eager = await serve(memorySessions({ maxSessionsPerPrincipal: 2, safeMs: 0 }));
  const [first, second] = [await legacy(eager, ANN), await legacy(eager, ANN)];
  await first.post(call(1, "whoami"));
  const third = await legacy(eager, ANN);
  const statuses = [];
  for (const session of [first, second, third]) statuses.push((await session.post(call(2, "whoami"))).status);
  // The idlest may be either, where a clock does not tell them apart.
  expect(statuses.filter((status) => status === 404).length).toBe(1);
  expect(statuses[2]).toBe(200);
  await third.delete();
  await legacy(eager, ANN);
});
