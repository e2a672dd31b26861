/** Used states in Redis: what must not go on twice does not, on whatever instances it is tried. */

import { limitError } from "@patchbay/core";
import type { UsedStates } from "@patchbay/server";
import type { RedisOptions } from "./client.ts";
import { openTarget, optionsOf, type Redis, type RedisTarget } from "./redis.ts";

export interface RedisUsedStatesOptions extends RedisOptions {
  /** A connection that is shared with the sessions; its options then are those that count. */
  redis?: Redis;
  /** States of all instances that are remembered at once; beyond, none is taken up. Default 1,000,000. */
  maxUsedStates?: number;
}

/** Marks a state, which is forgotten when it expires. Gives 1, 0 if it was used, or −1 when there is no room. */
const USE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return -1 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], last[2])
return 1`;

/** Milliseconds by which the clocks of two instances may differ: for so much longer a state is remembered. */
const CLOCKS_DIFFER = 10 * 60_000;

/** What other instances share. */
export type RedisUsedStates = UsedStates & { close(): Promise<void> };

/**
 * Remembers in Redis, or in a Redis Cluster, which states were used.
 *
 * @example
 * ```ts
 * const server = new McpServer(info, { usedStates: redisUsedStates("redis://127.0.0.1:6379") });
 * ```
 */
export function redisUsedStates(options: RedisTarget | RedisUsedStatesOptions = {}): RedisUsedStates {
  const { maxUsedStates: max = 1_000_000 } = optionsOf<RedisUsedStatesOptions>(options);
  const { redis, close } = openTarget(options);
  const { connection } = redis;
  const key = `${connection.prefix}used-states`;

  return {
    async use(id, until) {
      const left = Math.max(0, until - Date.now()) + CLOCKS_DIFFER;
      const used = await connection.run(key, "EVAL", USE, "1", key, id, `${left}`, `${max}`);
      if (used !== -1) return used === 1;
      const what = `as many states as maxUsedStates allows (${max}) were used and have not expired; try later`;
      throw limitError("maxUsedStates", what, max);
    },
    close,
  };
}
