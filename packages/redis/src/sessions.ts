/** Legacy sessions in Redis: any instance serves any request of any session. */

import { limitError, UnavailableError } from "@patchbay/core";
import type { SessionRecord, SessionStore } from "@patchbay/server/http";
import type { RedisOptions } from "./client.ts";
import type { RedisInstances } from "./instances.ts";
import { openTarget, optionsOf, type Redis, type RedisTarget } from "./redis.ts";

export interface RedisSessionsOptions extends RedisOptions {
  /** A connection that is shared with the tasks; its options then are those that count. */
  redis?: Redis;
  /** Milliseconds without a request or an open stream after which a session ends. Default 30 minutes. */
  idleMs?: number;
  /** Sessions of all instances that may live at once; one more takes the place of the idlest. Default 100,000. */
  maxSessions?: number;
  /** Those of one principal, on all instances; one more takes the place of their idlest. Default 1000. */
  maxSessionsPerPrincipal?: number;
  /** Milliseconds for which a session is safe from that; while all are, one more is refused. Default 30 s. */
  safeMs?: number;
  /** Characters of what one session keeps, as JSON: its client's description and subscriptions. Default 64 Ki. */
  maxSessionLength?: number;
}

/** Sessions that other instances share. */
export type RedisSessions = SessionStore & {
  readonly shared: RedisInstances;
  count(): Promise<number>;
  ready(): boolean;
  close(): Promise<void>;
};

/**
 * Counts a session, by when it was last asked for: those that idled away are forgotten, and the idlest makes room.
 * Gives 1, or 0 when there is no room, or the id of the one that made it.
 */
const ADMIT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local idle, max, safe = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - idle)
local gone = 1
if redis.call('ZCARD', KEYS[1]) >= max then
  local idlest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  if #idlest == 0 or now - tonumber(idlest[2]) < safe then return 0 end
  gone = idlest[1]
  redis.call('ZREM', KEYS[1], gone)
end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], idle * 2)
return gone`;

/** Notes that a session was asked for, unless it has ended meanwhile. */
const TOUCH = `
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], 'XX', time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/** Counts those that have not idled away, by the clock of Redis. */
const COUNT = `
local time = redis.call('TIME')
return redis.call('ZCOUNT', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[1], '+inf')`;

/** Replaces a record by another, if it is still what it was, for as long as it had left to live. */
const REPLACE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1`;

type Limit = "maxSessions" | "maxSessionsPerPrincipal";

/** Changes of one session that may get in the way of another before it is given up. */
const MAX_TRIES = 100;
/** Sessions whose last touch is remembered; the oldest is forgotten, and touched once more than it needed. */
const MAX_REMEMBERED = 100_000;

/**
 * Sessions in Redis, or in a Redis Cluster: instances that are given the same Redis and prefix serve each other's.
 *
 * @example
 * ```ts
 * await serveHttp(server, { sessions: redisSessions("redis://127.0.0.1:6379") });
 * ```
 */
export function redisSessions(options: RedisTarget | RedisSessionsOptions = {}): RedisSessions {
  const {
    idleMs = 30 * 60_000,
    maxSessions = 100_000,
    maxSessionsPerPrincipal = 1000,
    safeMs = 30_000,
    maxSessionLength = 64 * 1024,
  } = optionsOf<RedisSessionsOptions>(options);
  const { redis: opened, close } = openTarget(options);
  const { connection: redis, instances: shared } = opened;
  const all = `${redis.prefix}sessions`;
  // A request is not to cost a write: a session is touched once in a tenth of its time, and lives that much longer.
  const touchEvery = idleMs / 10;
  const lifetime = `${Math.ceil(idleMs + touchEvery)}`;
  /** When a session was last touched by this instance, the longest ago first. */
  const touched = new Map<string, number>();

  /** The sessions of one principal. */
  const ownOf = (principal: string) => `${redis.prefix}{${principal}}:sessions`;

  const keyOf = (id: string) => `${redis.prefix}{${id}}:session`;

  function checkLength(text: string): string {
    if (text.length <= maxSessionLength) return text;
    const what = `a session keeps more than maxSessionLength allows (${maxSessionLength} characters)`;
    throw limitError("maxSessionLength", what, maxSessionLength);
  }

  /** Counts a session among those of a key, and lets go of the one that made room for it. */
  async function admit(id: string, key: string, limit: Limit, max: number, whose: string): Promise<void> {
    const gone = await redis.run(key, "EVAL", ADMIT, "1", key, id, lifetime, `${max}`, `${safeMs}`);
    if (gone === 0) throw limitError(limit, `${whose} as ${limit} allows (${max}) are open; try later`, max);
    if (typeof gone !== "string") return;
    await redis.run(keyOf(gone), "DEL", keyOf(gone));
    await shared.tellAll({ kind: "ended", session: gone });
  }

  /** Nobody waits for it. */
  function touch(id: string, key: string): void {
    redis.run(key, "EVAL", TOUCH, "1", key, id, `${2 * Number(lifetime)}`).catch(() => {});
  }

  function forget(id: string, key: string): Promise<unknown> {
    return redis.run(key, "ZREM", key, id);
  }

  function remember(id: string, now: number): void {
    touched.delete(id);
    touched.set(id, now);
    for (const [oldest, at] of touched) {
      if (touched.size <= MAX_REMEMBERED && now - at < touchEvery) return;
      touched.delete(oldest);
    }
  }

  return {
    idleMs,
    shared,

    async create(record) {
      const text = checkLength(JSON.stringify(record));
      const id = crypto.randomUUID();
      const own = record.principal === undefined ? undefined : ownOf(record.principal);
      if (own !== undefined)
        await admit(id, own, "maxSessionsPerPrincipal", maxSessionsPerPrincipal, "as many sessions of yours");
      try {
        await admit(id, all, "maxSessions", maxSessions, "as many sessions");
      } catch (thrown) {
        if (own !== undefined) await forget(id, own).catch(() => {});
        throw thrown;
      }
      const key = keyOf(id);
      await redis.run(key, "SET", key, text, "PX", lifetime);
      remember(id, Date.now());
      return id;
    },

    async get(id) {
      const key = keyOf(id);
      const now = Date.now();
      const fresh = now - (touched.get(id) ?? Number.NEGATIVE_INFINITY) < touchEvery;
      const text = await (fresh ? redis.run(key, "GET", key) : redis.run(key, "GETEX", key, "PX", lifetime));
      if (typeof text !== "string") {
        touched.delete(id);
        return undefined;
      }
      if (!fresh) {
        remember(id, now);
        touch(id, all);
      }
      const record = JSON.parse(text) as SessionRecord;
      if (!fresh && record.principal !== undefined) touch(id, ownOf(record.principal));
      return record;
    },

    async has(id) {
      return (await redis.run(keyOf(id), "EXISTS", keyOf(id))) === 1;
    },

    async update(id, change) {
      const key = keyOf(id);
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const before = await redis.run(key, "GET", key);
        if (typeof before !== "string") return undefined;
        const record = JSON.parse(before) as SessionRecord;
        const changed = change(record);
        if (JSON.stringify(changed) === before) return changed;
        changed.changes = (record.changes ?? 0) + 1;
        const after = checkLength(JSON.stringify(changed));
        if ((await redis.run(key, "EVAL", REPLACE, "1", key, before, after)) === 1) return changed;
      }
      throw new UnavailableError("The session", "too many requests change it at once");
    },

    async delete(id) {
      touched.delete(id);
      const [deleted] = await Promise.all([redis.run(keyOf(id), "GETDEL", keyOf(id)), forget(id, all)]);
      if (typeof deleted !== "string") return false;
      const { principal } = JSON.parse(deleted) as SessionRecord;
      if (principal !== undefined) await forget(id, ownOf(principal));
      return true;
    },

    async count() {
      return (await redis.run(all, "EVAL", COUNT, "1", all, lifetime)) as number;
    },

    ready: () => redis.ready,

    close,
  };
}
