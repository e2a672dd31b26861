/** What every store of tasks does, whatever keeps them. */

import { describe, expect, test, vi } from "vitest";
import type { TaskRecord, TaskStore } from "../src/index.ts";

/** A kind of stores, and its clock. */
export interface TaskStoreKind {
  open(options: { maxTasks?: number; maxTasksPerOwner?: number }): Promise<TaskStore>;
  /** Lets time pass for what is kept. */
  pass(ms: number): Promise<void>;
}

export function task(id: string, change: Partial<TaskRecord> = {}): TaskRecord {
  const now = Date.now();
  return {
    id,
    owner: "me",
    countsFor: [change.owner ?? "me"].filter((owner) => owner !== ""),
    status: "working",
    createdAt: now,
    lastUpdatedAt: now,
    ttl: 60_000,
    pollInterval: 1,
    inputs: {},
    ...change,
  };
}

export function describeTaskStore(name: string, kind: TaskStoreKind): void {
  describe(name, () => {
    test("a task is kept for its time, not longer, and who watches it is told", async () => {
      const store = await kind.open({});
      const told: unknown[] = [];
      store.watch("a", (record) => told.push(record));
      const made = task("a");
      await store.create(made);
      await kind.pass(59_000);
      expect(await store.get("a")).toEqual(made);
      await kind.pass(1000);
      expect(await store.get("a")).toBeUndefined();
      expect(await store.update("a", (record) => record)).toBeUndefined();
      expect(await store.list("me", undefined, 10)).toEqual([]);
      expect(told[0]).toBeUndefined();
    });

    test("no more than may be: those whose time is over make room", async () => {
      const store = await kind.open({ maxTasks: 3, maxTasksPerOwner: 2 });
      await store.create(task("a"));
      await store.create(task("b"));
      await expect(store.create(task("c"))).rejects.toMatchObject({
        data: { limit: "maxTasksPerOwner", value: 2 },
      });
      // Nobody knows whose these are: they are bounded together.
      await store.create(task("d", { owner: "" }));
      await expect(store.create(task("e", { owner: "" }))).rejects.toMatchObject({
        code: -32600,
        data: { limit: "maxTasks", value: 3 },
      });
      await expect(store.create(task("f", { owner: "you" }))).rejects.toMatchObject({
        data: { limit: "maxTasks", value: 3 },
      });
      await kind.pass(60_000);
      await store.create(task("c"));
      expect((await store.list("me", undefined, 10))?.map(({ id }) => id)).toEqual(["c"]);
      expect(await store.list("me", "a", 10)).toBeUndefined();
      expect(await store.list("you", undefined, 10)).toEqual([]);
    });

    test("no more of one user than may be, in all their sessions together", async () => {
      const store = await kind.open({ maxTasksPerOwner: 2 });
      const mine = (id: string, owner: string) => task(id, { owner, countsFor: [owner, "ann"] });
      await store.create(mine("a", "session 1"));
      await store.create(mine("b", "session 2"));
      await expect(store.create(mine("c", "session 3"))).rejects.toMatchObject({
        data: { limit: "maxTasksPerOwner", value: 2 },
      });
      await store.create(task("d", { owner: "session 4", countsFor: ["session 4", "bob"] }));
      expect((await store.list("session 1", undefined, 10))?.map(({ id }) => id)).toEqual(["a"]);
      await kind.pass(60_000);
      await store.create(mine("c", "session 3"));
    });

    test("are listed by the page, the oldest first, to their owner alone", async () => {
      const store = await kind.open({});
      for (const id of ["z", "a", "m", "b"]) await store.create(task(id));
      await store.create(task("theirs", { owner: "you" }));
      await store.create(task("anybody's", { owner: "" }));
      const page = async (after: string | undefined, limit: number) =>
        (await store.list("me", after, limit))?.map(({ id }) => id);
      expect(await page(undefined, 3)).toEqual(["z", "a", "m"]);
      expect(await page("m", 3)).toEqual(["b"]);
      expect(await page("b", 3)).toEqual([]);
      expect(await page("theirs", 3)).toBeUndefined();
      expect(await store.list("", undefined, 10)).toEqual([]);
    });

    test("a change that is none tells nobody", async () => {
      const store = await kind.open({});
      await store.create(task("a"));
      const changed = vi.fn();
      let hear = () => {};
      const heard = new Promise<void>((resolve) => {
        hear = resolve;
      });
      const end = store.watch("a", (record) => {
        changed(record);
        hear();
      });
      expect(await store.update("a", () => undefined)).toMatchObject({ status: "working" });
      const failed = await store.update("a", (record) => ({ ...record, status: "failed" }));
      await heard;
      expect(changed.mock.calls).toEqual([[failed]]);
      expect(failed?.status).toBe("failed");
      end();
      const last = await store.update("a", (record) => ({ ...record, statusMessage: "again" }));
      expect(await store.get("a")).toEqual(last);
      expect(changed).toHaveBeenCalledTimes(1);
    });

    test("changes at the same time are all made", async () => {
      const store = await kind.open({});
      await store.create(task("a", { statusMessage: "" }));
      const add = (letter: string) =>
        store.update("a", (record) => ({ ...record, statusMessage: `${record.statusMessage}${letter}` }));
      await Promise.all([..."abcdefghijklmnop"].map(add));
      const { statusMessage = "" } = (await store.get("a")) ?? {};
      expect([...statusMessage].sort().join("")).toBe("abcdefghijklmnop");
    });

    test("what a change throws changes nothing", async () => {
      const store = await kind.open({});
      const made = task("a");
      await store.create(made);
      const thrown = store.update("a", () => {
        throw new Error("no");
      });
      await expect(thrown).rejects.toThrow("no");
      expect(await store.get("a")).toEqual(made);
    });
  });
}
