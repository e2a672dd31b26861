/** Many instances of a server as one: its sessions, streams and changes in Redis. */

export type { RedisOptions } from "./connection.ts";
export { type RedisSessions, type RedisSessionsOptions, redisSessions } from "./sessions.ts";
