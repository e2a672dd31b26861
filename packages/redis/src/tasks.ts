/** Tasks in Redis: one that runs on an instance is looked at, answered and cancelled on any. */

import { ErrorCode, isTerminal, limitError, UnavailableError } from "@patchbay/core";
import type { TaskRecord, TaskStore } from "@patchbay/server";
import type { RedisOptions } from "./client.ts";
import { openTarget, optionsOf, type Redis, type RedisTarget } from "./redis.ts";

export interface RedisTasksOptions extends RedisOptions {
  /** A connection that is shared with the sessions; its options then are those that count. */
  redis?: Redis;
  /** Tasks of all instances that are kept at once, whatever their status; one more is refused. Default 100,000. */
  maxTasks?: number;
  /** Those of one user, or of one session where users are not known. Default 100. */
  maxTasksPerOwner?: number;
  /** Milliseconds between two looks whether a task that is watched is gone. Default 10 s. */
  sweepEvery?: number;
}

/** A task, and the instance that runs it. */
type Kept = TaskRecord & { readonly instance: string };

/**
 * Counts a task by when its time is over; those whose time is over make room. Gives its name in the count, which
 * orders tasks by their creation, or nothing when there is no room.
 */
const ADMIT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return false end
local member = string.format('%d%06d:%s', time[1], time[2], ARGV[1])
redis.call('ZADD', KEYS[1], now + ARGV[2], member)
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], last[2])
return member`;

/** Replaces a task by another, if it is still what it was, and tells those who watch it. */
const REPLACE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
redis.call('PUBLISH', ARGV[3], ARGV[2])
return 1`;

/** Changes of one task that may get in the way of another before it is given up. */
const MAX_TRIES = 100;

/** What becomes of a task whose instance is gone. */
const INSTANCE_GONE = "The instance of this server that ran the task is gone; how far it came is not known";

/** Tasks that other instances share. */
export type RedisTasks = TaskStore & { close(): Promise<void> };

/**
 * A store of tasks in Redis, or in a Redis Cluster.
 *
 * @example
 * ```ts
 * const server = new McpServer(info, { tasks: { store: redisTasks("redis://127.0.0.1:6379") } });
 * ```
 */
export function redisTasks(options: RedisTarget | RedisTasksOptions = {}): RedisTasks {
  const {
    maxTasks = 100_000,
    maxTasksPerOwner = 100,
    sweepEvery = 10_000,
  } = optionsOf<RedisTasksOptions>(options);
  const { redis, close } = openTarget(options);
  const { connection, instances } = redis;
  const { prefix } = connection;
  const all = `${prefix}tasks`;
  const watching = new Map<string, Set<(task: TaskRecord | undefined) => void>>();
  let sweeping: ReturnType<typeof setInterval> | undefined;

  const keyOf = (id: string) => `${prefix}{${id}}:task`;
  const channelOf = (id: string) => `${prefix}task:${id}`;
  const ownedBy = (owner: string) => `${prefix}{${owner}}:tasks`;

  async function admit(key: string, id: string, ttl: number, max: number): Promise<string | undefined> {
    const member = await connection.run(key, "EVAL", ADMIT, "1", key, id, `${ttl}`, `${max}`);
    return typeof member === "string" ? member : undefined;
  }

  /** @param change nothing to leave it as it is */
  async function replace(
    id: string,
    change: (task: Kept) => Promise<TaskRecord | undefined> | TaskRecord | undefined,
  ): Promise<Kept | undefined> {
    const key = keyOf(id);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const before = await connection.run(key, "GET", key);
      if (typeof before !== "string") return undefined;
      const task = JSON.parse(before) as Kept;
      const changed = await change(task);
      if (changed === undefined) return task;
      const kept = { ...changed, instance: task.instance };
      const after = JSON.stringify(kept);
      if ((await connection.run(key, "EVAL", REPLACE, "1", key, before, after, channelOf(id))) === 1)
        return kept;
    }
    throw new UnavailableError("The task", "too many requests change it at once");
  }

  /** A task that goes on nowhere is over. */
  async function find(id: string): Promise<TaskRecord | undefined> {
    const key = keyOf(id);
    const text = await connection.run(key, "GET", key);
    if (typeof text !== "string") return undefined;
    const found = JSON.parse(text) as Kept;
    if (isTerminal(found.status) || (await instances.isThere(found.instance))) return told(found);
    const failed = await replace(id, (task) => (isTerminal(task.status) ? undefined : asLost(task)));
    return failed && told(failed);
  }

  function tell(id: string, task: TaskRecord | undefined): void {
    for (const listener of [...(watching.get(id) ?? [])]) listener(task);
  }

  /** Looks at all that is watched: what is gone is told in any case, all else if it may have been missed. */
  async function lookAgain(missed: (task: TaskRecord) => boolean): Promise<void> {
    for (const id of [...watching.keys()]) {
      const task = await find(id).catch(() => null);
      if (task === null) return;
      if (task === undefined || missed(task)) tell(id, task);
    }
  }

  instances.onBack(() => void lookAgain(() => true));
  // What ran there fails by being looked at, and that is told.
  instances.onGone((instance) => instance !== undefined && void lookAgain(() => false));

  return {
    async create(task) {
      const left = task.createdAt + task.ttl - Date.now();
      const counted: [key: string, member: string][] = [];
      const uncount = () =>
        Promise.all(counted.map(([key, member]) => connection.run(key, "ZREM", key, member)));
      for (const key of task.countsFor.map(ownedBy)) {
        const member = await admit(key, task.id, left, maxTasksPerOwner);
        if (member === undefined) {
          await uncount();
          const what = `you have as many tasks as maxTasksPerOwner allows (${maxTasksPerOwner}); try later`;
          throw limitError("maxTasksPerOwner", what, maxTasksPerOwner);
        }
        counted.push([key, member]);
      }
      if ((await admit(all, task.id, left, maxTasks)) === undefined) {
        await uncount();
        const what = `as many tasks as maxTasks allows (${maxTasks}) are kept; try later`;
        throw limitError("maxTasks", what, maxTasks);
      }
      const key = keyOf(task.id);
      const text = JSON.stringify({ ...task, instance: instances.id } satisfies Kept);
      await connection.run(key, "SET", key, text, "PX", `${left}`);
    },

    async get(id) {
      const task = await find(id);
      if (task === undefined) tell(id, undefined);
      return task;
    },

    async update(id, change) {
      const changed = await replace(id, (task) => change(told(task)));
      return changed && told(changed);
    },

    async list(owner, after, limit) {
      if (owner === "") return after === undefined ? [] : undefined;
      const key = ownedBy(owner);
      const members = (await connection.run(key, "ZRANGE", key, "0", "-1")) as string[];
      const ids = members.sort().map((member) => member.slice(member.indexOf(":") + 1));
      const found = await Promise.all(ids.map(find));
      const tasks = found.filter((task) => task !== undefined);
      const start = after === undefined ? 0 : tasks.findIndex(({ id }) => id === after) + 1;
      if (after !== undefined && start === 0) return undefined;
      return tasks.slice(start, start + limit);
    },

    watch(id, listener) {
      // A function of our own, so that the same listener may watch twice.
      const own = (task: TaskRecord | undefined) => listener(task);
      const listeners = watching.get(id) ?? new Set();
      if (listeners.size === 0) {
        watching.set(id, listeners);
        void connection.subscribe(channelOf(id), (text) => tell(id, told(JSON.parse(text) as Kept)));
        sweeping ??= setInterval(() => void lookAgain(() => false), sweepEvery).unref();
      }
      listeners.add(own);
      return () => {
        listeners.delete(own);
        if (listeners.size > 0 || watching.get(id) !== listeners) return;
        watching.delete(id);
        connection.unsubscribe(channelOf(id));
        if (watching.size > 0) return;
        clearInterval(sweeping);
        sweeping = undefined;
      };
    },

    async close() {
      clearInterval(sweeping);
      await close();
    },
  };
}

/** A task as it is told of: where it runs is nobody's business. */
function told({ instance: _, ...task }: Kept): TaskRecord {
  return task;
}

function asLost(task: Kept): TaskRecord {
  const error = { code: ErrorCode.InternalError, message: INSTANCE_GONE };
  const now = Date.now();
  return { ...task, status: "failed", statusMessage: INSTANCE_GONE, error, inputs: {}, lastUpdatedAt: now };
}
