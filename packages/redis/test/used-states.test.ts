/** Used states in Redis: once is once on all instances together, for as long as a state lives. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { connectRedis, redisUsedStates } from "../src/index.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";

needs("redis-server")("used states in Redis", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  const options = () => ({ url: redis.url, prefix: "used:", onNotice: () => {} });

  test("are used once by all instances together, until they expire, and are no more than maxUsedStates", async () => {
    const instances = [1, 2, 3].map(() => redisUsedStates({ ...options(), maxUsedStates: 2 }));
    const until = Date.now() + 60_000;
    const used = await Promise.all(instances.map((each) => each.use("a", until)));
    expect(used.filter((first) => first)).toHaveLength(1);
    const [one, other] = instances as [(typeof instances)[0], (typeof instances)[0]];
    expect(await one.use("b", until)).toBe(true);
    await expect(other.use("c", until)).rejects.toMatchObject({ data: { limit: "maxUsedStates", value: 2 } });
    expect(await other.use("b", until)).toBe(false);
    // By another clock it may not have expired yet.
    await redis.pass(60_000);
    expect(await other.use("b", until)).toBe(false);
    await redis.pass(10 * 60_000);
    expect(await other.use("c", until)).toBe(true);
    await Promise.all(instances.map((each) => each.close()));
  });

  test("may share their connection, and fail clearly when it is gone", async () => {
    const shared = connectRedis(options());
    const states = redisUsedStates({ redis: shared });
    expect(await states.use("x", Date.now() + 60_000)).toBe(true);
    await states.close();
    expect(await states.use("x", Date.now() + 60_000)).toBe(false);
    await shared.close();
    await expect(states.use("y", Date.now() + 60_000)).rejects.toMatchObject({ name: "UnavailableError" });
  });
});
