/** Many instances of a server as one: its sessions, streams, changes and tasks in Redis. */

export type { RedisOptions } from "./client.ts";
export { connectRedis, type Redis, type RedisTarget } from "./redis.ts";
export { type RedisSessions, type RedisSessionsOptions, redisSessions } from "./sessions.ts";
export { type RedisTasks, type RedisTasksOptions, redisTasks } from "./tasks.ts";
export { type RedisUsedStates, type RedisUsedStatesOptions, redisUsedStates } from "./used-states.ts";
