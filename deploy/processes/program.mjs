/** A program in a process of its own: started, told when it is ready, ended in order or not. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";

const MAX_KEPT = 16_384;

/**
 * @typedef {object} Program
 * @property {number} pid
 * @property {() => boolean} alive
 * @property {() => string} said the last that it wrote to stdout and stderr
 * @property {(signal?: NodeJS.Signals) => Promise<number | null>} end gives its exit code; null when a signal ended it
 */

/**
 * Starts a program and waits until it is ready.
 *
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string, ready: RegExp | ((signal: AbortSignal) => Promise<void>) }} how
 *   `ready`: what it writes when it is, or what resolves when it is
 * @returns {Promise<Program>}
 * @throws {Error} when it ends before, with what it wrote
 */
export async function startProgram(file, args, { env = {}, cwd, ready }) {
  const child = spawn(file, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let hear = () => {};
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      said = (said + text).slice(-MAX_KEPT);
      hear();
    });
  }
  const ended = once(child, "exit");
  const waiting = new AbortController();
  const isReady =
    ready instanceof RegExp
      ? new Promise((resolve) => {
          hear = () => ready.test(said) && resolve(undefined);
        })
      : ready(waiting.signal);
  const tooSoon = ended.then(([code, signal]) => {
    throw new Error(`${file} ended with ${code ?? signal} before it was ready: ${said}`);
  });
  try {
    await Promise.race([isReady, tooSoon]);
  } finally {
    hear = () => {};
    tooSoon.catch(() => {});
    waiting.abort();
  }
  const alive = () => child.exitCode === null && child.signalCode === null;
  return {
    pid: /** @type {number} */ (child.pid),
    alive,
    said: () => said,
    async end(signal = "SIGTERM") {
      if (alive()) child.kill(signal);
      const [code] = await ended;
      return code;
    },
  };
}

/** Ports that connections are made from are taken at random, some time: what restarts on its port has one below them. */
const [FIRST, LAST] = [20_000, 32_000];

/** A port that nobody has: for programs that cannot say which one they took. */
export async function freePort() {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await isFree(port)) return port;
  }
}

/** @param {number} port */
function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
