/** Sessions in Redis, through the suite of all kinds. */

import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { describeServedSessions, describeSessionStore, RECORD } from "../../server/test/session-kinds.ts";
import { type RedisSessions, type RedisSessionsOptions, redisSessions } from "../src/index.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";

test.each(["http://:canary@127.0.0.1", "redis", "redis://:canary@[bad", [], ["redis://127.0.0.1", ""], 5])(
  "what is no URL of a Redis is refused, and not shown: %o",
  (url) => {
    const refused = expect(() => redisSessions(url as string));
    refused.toThrow(/^The URL of a Redis begins with redis:\/\/ or rediss:\/\//);
  },
);

needs("redis-server")("sessions in Redis", () => {
  let redis: RedisServer;
  const opened: RedisSessions[] = [];

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    vi.useRealTimers();
    for (const store of opened.splice(0)) await store.close();
  });
  afterAll(() => redis.stop());

  async function open(options: RedisSessionsOptions = {}): Promise<RedisSessions> {
    const store = redisSessions({
      url: redis.url,
      prefix: `${crypto.randomUUID()}:`,
      onNotice: () => {},
      ...options,
    });
    opened.push(store);
    return store;
  }

  async function pass(ms: number): Promise<void> {
    await redis.pass(ms);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
  }

  describeSessionStore("a store", { open, pass, keeps: true });
  describeServedSessions("over HTTP", open);

  test("a request costs one command, and no write", async () => {
    const store = await open({ prefix: "counted:" });
    const id = (await store.create(RECORD)) as string;
    await redis.command("CONFIG", "RESETSTAT");
    for (let count = 0; count < 10; count++) await store.get(id);
    const stats = String(await redis.command("INFO", "commandstats"));
    expect(stats).toMatch(/cmdstat_get:calls=10,/);
    expect(stats).not.toMatch(/cmdstat_(set|getex|pexpire|expire|zadd):/);
  });

  test("all keys of a session are of one slot of a Cluster, and begin with the prefix", async () => {
    const store = await open({ prefix: "mine:" });
    const id = (await store.create(RECORD)) as string;
    const log = store.shared.events.open(id, "s", [1]);
    log.append(1, "{}", 1);
    await store.get(id);
    const keys = ((await redis.command("KEYS", "mine:*")) as string[]).filter((key) => key.includes(id));
    expect(keys.sort()).toEqual([`mine:{${id}}:events:s`, `mine:{${id}}:session`]);
    expect(await store.shared.events.read(id, "s", 0)).toEqual({
      events: [{ seq: 1, text: "{}" }],
      finished: false,
      requests: [1],
    });
    // Trimmed, so that no more is kept than its stream keeps; what was let go of is known to be missing.
    for (let seq = 2; seq <= 5; seq++) log.append(seq, "{}", seq - 1);
    expect(await store.shared.events.read(id, "s", 2)).toBeUndefined();
    expect((await store.shared.events.read(id, "s", 3))?.events.map(({ seq }) => seq)).toEqual([4, 5]);
    expect(await store.shared.events.read(id, "s", 6)).toBeUndefined();
    for (const key of keys) expect(await redis.command("PTTL", key)).toBeGreaterThan(0);
  });
});
