/** Two users of two instances that share a Redis: what is one's is not there for the other, on either. */

import type { VerifyToken } from "@patchbay/server/http";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { answerOf, call, guarded, legacy, modern, textOf, whoami } from "../../server/test/auth/guarded.ts";
import { Events, until } from "../../server/test/streamable.ts";
import { type Json, MODERN_META } from "../../server/test/wire.ts";
import { type RedisSessionsOptions, redisSessions, redisTasks } from "../src/index.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";

/** A token is its subject, and anything after it. */
const verify: VerifyToken = (token) => ({
  issuer: "one",
  subject: token.split("/")[0] as string,
  expiresAt: Date.now() + 60_000,
});
const SECRETS = { stateSecrets: ["0123456789abcdef0123456789abcdef"] };

needs("redis-server")("two users of two instances", () => {
  let redis: RedisServer;
  const opened: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });
  afterAll(() => redis.stop());

  async function instances(options: RedisSessionsOptions = {}) {
    const prefix = `${crypto.randomUUID()}:`;
    const start = async () => {
      const sessions = redisSessions({ url: redis.url, prefix, onNotice: () => {}, ...options });
      const tasks = redisTasks({ url: redis.url, prefix, onNotice: () => {} });
      const server = whoami({ ...SECRETS, tasks: { store: tasks } });
      const serving = await guarded(server, { verify }, { sessions });
      opened.push(async () => {
        await serving.close();
        await server.tasks.end();
        await Promise.all([sessions.close(), tasks.close()]);
      });
      await until(() => sessions.ready());
      return serving;
    };
    return { a: await start(), b: await start() };
  }

  test("have sessions of their own, wherever they come", async () => {
    const { a, b } = await instances();
    const session = await legacy(a, "ann/1");
    const events = new Events(await session.post(call(1, "sure", { of: "it" })));
    const first = await events.next();
    const asked = JSON.parse(first?.data || (await events.next())?.data || "{}");
    const elsewhere = { ...session };
    const request = (token: string, init: RequestInit = {}) =>
      fetch(b.url, {
        ...init,
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-session-id": elsewhere.id,
          authorization: `Bearer ${token}`,
          ...(init.headers as Record<string, string>),
        },
      });
    const post = (token: string, message: Json) =>
      request(token, { method: "POST", body: JSON.stringify(message) });
    const answer = { jsonrpc: "2.0", id: asked.id, result: { action: "accept", content: { sure: true } } };
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    const tried = [
      await post("bob", answer),
      await post("bob", cancel),
      await post("bob", call(2, "whoami")),
      await request("bob"),
      await request("bob", { headers: { "last-event-id": first?.id ?? "" } }),
      await request("bob", { method: "DELETE" }),
    ];
    expect(tried.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
    const decline = { jsonrpc: "2.0", id: asked.id, result: { action: "decline" } };
    expect((await post("ann/2", decline)).status).toBe(202);
    expect(textOf(await events.message())).toBe("ann: decline");
    expect((await request("ann/2", { method: "DELETE" })).status).toBe(204);
    expect((await session.post(call(3, "whoami"))).status).toBe(404);
  });

  test("have tasks and states of their own", async () => {
    const { a, b } = await instances();
    const extensions = { "io.modelcontextprotocol/tasks": {} };
    const [capabilities = ""] = Object.keys(MODERN_META).filter((key) => key.endsWith("clientCapabilities"));
    const _meta = { [capabilities]: { elicitation: { form: {} }, extensions } };
    const made = await answerOf(modern(a, "ann/1", "tools/call", { name: "slow", _meta }));
    const { taskId } = made.result;
    expect(taskId).toBeDefined();
    expect((await answerOf(modern(b, "bob", "tasks/get", { taskId, _meta }))).error.code).toBe(-32602);
    expect((await answerOf(modern(b, "ann/2", "tasks/get", { taskId, _meta }))).result.taskId).toBe(taskId);

    const params = { name: "sure", arguments: { of: "it" } };
    const { requestState } = (await answerOf(modern(a, "ann/1", "tools/call", params))).result;
    const retry = { ...params, requestState, inputResponses: { "1": { action: "decline" } } };
    expect((await answerOf(modern(b, "bob", "tools/call", retry))).error.data.reason).toBe("foreign");
    expect(textOf(await answerOf(modern(b, "ann/2", "tools/call", retry)))).toBe("ann: decline");
  });

  test("have room for so many sessions each, on all instances together", async () => {
    const { a, b } = await instances({ maxSessionsPerPrincipal: 2 });
    const first = await legacy(a, "ann");
    await legacy(b, "ann");
    await expect(legacy(a, "ann")).rejects.toThrow(/503.*maxSessionsPerPrincipal allows \(2\)/);
    await legacy(a, "bob");
    expect((await first.delete()).status).toBe(204);
    await legacy(b, "ann");
  });

  test("make room among their own", async () => {
    const { a, b } = await instances({ maxSessionsPerPrincipal: 1, safeMs: 0 });
    const [anns, bobs] = [await legacy(a, "ann"), await legacy(b, "bob")];
    await legacy(b, "ann");
    expect((await anns.post(call(1, "whoami"))).status).toBe(404);
    expect((await bobs.post(call(1, "whoami"))).status).toBe(200);
  });
});
