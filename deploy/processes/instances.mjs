/** Instances of one server: `patchbay serve`, each in a process of its own, on a port that it keeps. */

import { fileURLToPath } from "node:url";
import { freePort, startProgram } from "./program.mjs";

const PATCHBAY = fileURLToPath(new URL("../../packages/cli/bin/patchbay.js", import.meta.url));
export const NAMES = ["a", "b", "c"];

/**
 * @typedef {object} Instance
 * @property {string} name
 * @property {number} port
 * @property {string} address as a balancer is told it: host and port
 * @property {string} url of its MCP endpoint, past the balancer
 * @property {() => number} pid
 * @property {() => string} said
 * @property {(signal?: NodeJS.Signals) => Promise<number | null>} end
 * @property {() => Promise<void>} start begins again, on the same port
 * @property {() => Promise<void>} revive begins again if it has ended
 */

/**
 * Starts an instance.
 *
 * @param {string} name
 * @param {readonly string[]} serve what follows `patchbay serve`: the server, and options
 * @param {Record<string, string>} [env]
 * @returns {Promise<Instance>}
 */
export async function startInstance(name, serve, env = {}) {
  const port = await freePort();
  const args = [PATCHBAY, "serve", ...serve, "--http", String(port), "--instance", name];
  // Two checks of HAProxy: it has seen that we go before we do.
  args.push("--drain-delay", "1500");
  const start = () => startProgram(process.execPath, args, { env, ready: /is served at/ });
  let program = await start();
  return {
    name,
    port,
    address: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/mcp`,
    pid: () => program.pid,
    said: () => program.said(),
    end: (signal) => program.end(signal),
    async start() {
      program = await start();
    },
    async revive() {
      if (!program.alive()) program = await start();
    },
  };
}

/** Starts three, named a, b and c. */
export function startInstances(serve, env) {
  return Promise.all(NAMES.map((name) => startInstance(name, serve, env)));
}
