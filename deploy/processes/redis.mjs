/** A Redis of one's own: on loopback, in a folder that goes with it, kept across its restarts. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { locate } from "../../scripts/programs.mjs";
import { freePort, startProgram } from "./program.mjs";

/**
 * @typedef {object} Redis
 * @property {string} url
 * @property {() => Promise<void>} restart ends it in order, and starts it with what it knew
 * @property {() => Promise<void>} stop
 */

/** @returns {Promise<Redis>} */
export async function startRedis() {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "patchbay-redis-"));
  const args = ["--bind", "127.0.0.1", "--port", String(port), "--dir", folder];
  args.push("--appendonly", "yes", "--appendfsync", "no", "--save", "");
  const start = () =>
    startProgram(locate("redis-server") ?? "redis-server", args, { ready: /Ready to accept/ });
  let program = await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    async restart() {
      await program.end();
      program = await start();
    },
    async stop() {
      await program.end();
      rmSync(folder, { recursive: true });
    },
  };
}
