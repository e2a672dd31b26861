/** One Redis as an instance has it: its connection, and the other instances that are there. */

import type { RedisOptions } from "./client.ts";
import { RedisConnection } from "./connection.ts";
import { RedisEventLog } from "./event-log.ts";
import { RedisInstances } from "./instances.ts";

/** What `redisSessions` and `redisTasks` of one instance share. */
export interface Redis {
  readonly connection: RedisConnection;
  readonly instances: RedisInstances;
  /** Lets go of it, and tells the other instances. */
  close(): Promise<void>;
}

/** Where a Redis is, or one that is shared. */
export type RedisTarget = string | readonly string[] | Redis | (RedisOptions & { redis?: Redis });

/**
 * Connects to Redis, now and whenever the connection is lost. It keeps no process alive.
 *
 * @example
 * ```ts
 * const redis = connectRedis("redis://127.0.0.1:6379");
 * const server = new McpServer(info, { tasks: { store: redisTasks(redis) } });
 * await serveHttp(server, { sessions: redisSessions(redis) });
 * ```
 */
export function connectRedis(options: string | readonly string[] | RedisOptions = {}): Redis {
  const given = isUrl(options) ? { url: options } : options;
  const connection = new RedisConnection(given);
  const events = new RedisEventLog(connection, given.eventsKeptMs ?? 10 * 60_000);
  const instances = new RedisInstances(connection, given.deadAfter ?? 2500, events);
  return {
    connection,
    instances,
    async close() {
      await instances.close();
      connection.close();
    },
  };
}

/** The Redis of a target, and what lets go of it: a shared one belongs to whoever made it. */
export function openTarget(target: RedisTarget): { redis: Redis; close: () => Promise<void> } {
  const shared = isUrl(target) ? undefined : "connection" in target ? target : target.redis;
  if (shared !== undefined) return { redis: shared, close: async () => {} };
  const redis = connectRedis(target as Exclude<RedisTarget, Redis>);
  return { redis, close: () => redis.close() };
}

/** What is said about a target beside where it is. */
export function optionsOf<Options extends RedisOptions>(target: RedisTarget | Options): Partial<Options> {
  return isUrl(target) || "connection" in target ? {} : (target as Options);
}

/** One URL, or those of a Cluster; whether it is one is looked at when it is used. */
function isUrl(target: unknown): target is string | readonly string[] {
  return typeof target !== "object" || target === null || Array.isArray(target);
}
