/** An instance in a process of its own, to be killed: tells its port, and serves calls that never end. */

import { connectRedis, redisSessions, redisTasks } from "@patchbay/redis";
import { McpServer } from "@patchbay/server";
import { serveHttp } from "@patchbay/server/http";

const redis = connectRedis({ url: process.argv[2], prefix: process.argv[3], onNotice: () => {} });
const server = new McpServer({ name: "mortal", version: "1" }, { tasks: { store: redisTasks(redis) } });
const forever = new Promise(() => {});

server.tool("progress", {}, async (_args, ctx) => {
  ctx.progress(1);
  ctx.progress(2);
  await forever;
  return "never";
});
server.tool("job", { task: true }, async () => {
  await forever;
  return "never";
});

const sessions = redisSessions(redis);
const { url } = await serveHttp(server, { port: 0, sessions });
await sessions.has("none");
process.send?.({ url });
