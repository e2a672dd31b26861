/** Tasks in Redis: what every store does, and what only one that instances share can do. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { describeTaskStore, task } from "../../server/test/task-stores.ts";
import { connectRedis, type RedisTasks, redisTasks } from "../src/index.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";

needs("redis-server")("tasks in Redis", () => {
  let redis: RedisServer;
  const opened: RedisTasks[] = [];

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });
  afterAll(() => redis.stop());

  function open(options: Parameters<typeof redisTasks>[0] & object, prefix: string = crypto.randomUUID()) {
    const store = redisTasks({ url: redis.url, prefix: `${prefix}:`, onNotice: () => {}, ...options });
    opened.push(store);
    return store;
  }

  describeTaskStore("as in every store", {
    open: async (options) => open(options),
    pass: (ms) => redis.pass(ms),
  });

  describe("that instances share", () => {
    test("are seen, changed and watched on any", async () => {
      const [a, b] = [open({}, "shared"), open({}, "shared")];
      await a.create(task("t"));
      expect(await b.get("t")).toMatchObject({ status: "working" });
      const told = new Promise((resolve) => b.watch("t", resolve));
      await b.get("t");
      const changed = await a.update("t", (record) => ({ ...record, statusMessage: "going" }));
      expect(await told).toEqual(changed);
      const back = new Promise((resolve) => a.watch("t", resolve));
      await a.get("t");
      const cancelled = await b.update("t", (record) => ({ ...record, status: "cancelled" }));
      expect(await back).toEqual(cancelled);
    });

    test("fail when the instance that runs them is gone, and whoever watches is told", async () => {
      const [a, b] = [open({ deadAfter: 300 }, "dying"), open({ deadAfter: 300 }, "dying")];
      await a.create(task("t"));
      await a.create(task("done", { status: "completed" }));
      expect(await b.get("t")).toMatchObject({ status: "working" });
      const told = new Promise((resolve) => b.watch("t", resolve));
      await b.get("t");
      await a.close();
      const lost = { status: "failed", error: { code: -32603, message: expect.stringContaining("is gone") } };
      expect(await told).toMatchObject(lost);
      expect(await b.get("t")).toMatchObject(lost);
      expect(await b.get("done")).toMatchObject({ status: "completed" });
    });

    test("may share their connection with the sessions", async () => {
      const shared = connectRedis({ url: redis.url, prefix: "one:", onNotice: () => {} });
      const store = redisTasks({ redis: shared, maxTasks: 1 });
      await store.create(task("t"));
      await expect(store.create(task("u"))).rejects.toMatchObject({ data: { limit: "maxTasks" } });
      await store.close();
      expect(await store.get("t")).toMatchObject({ id: "t" });
      await shared.close();
      await expect(store.get("t")).rejects.toMatchObject({ name: "UnavailableError" });
    });
  });
});
