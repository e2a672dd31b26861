/** A redis-server for a contender whose sessions live there: on a free port, on the core of the load, keeping nothing. */

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { Child } from "../child.mjs";

/** Why there is none on this machine. */
export function lacksRedis() {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "redis-server is not installed";
  }
}

/** @returns {Promise<{ url: string, end: () => Promise<void> }>} */
export async function startRedis() {
  const port = await freePort();
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const redis = new Child({ command: ["redis-server", ...options], core: "load" });
  const gone = redis.untilGone();
  gone.catch(() => {});
  let said = "";
  while (!said.includes("Ready to accept connections")) {
    const [text] = await Promise.race([once(redis.stdout.setEncoding("utf8"), "data"), gone]);
    said += text;
  }
  redis.stdout.resume();
  return { url: `redis://127.0.0.1:${port}`, end: () => redis.end({ tell: true }) };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}
