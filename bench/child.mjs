/** The contenders' processes: started on the server's core, and ended whatever happens to us. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ContenderError } from "./closed-loop.mjs";
import { commandOn } from "./machine.mjs";

const here = import.meta.dirname;
const END_MS = 2_000;
const running = new Set();

process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
]) {
  process.on(signal, () => process.exit(code));
}

export class Child {
  #process;
  #stderr = "";
  #gone;

  /**
   * @param {object} what
   * @param {string[]} [what.serve] a file under bench/ that Node runs, and its arguments
   * @param {string} [what.code] or code
   * @param {string[]} [what.command] or another program, and its arguments
   * @param {string} [what.workload] the tools that it has
   * @param {"server" | "load" | "both"} [what.core] where it runs
   * @param {boolean} [what.ipc] whether messages can be sent to it
   * @param {string[]} nodeOptions
   */
  constructor({ serve, code, command, workload, core = "server", ipc = false }, nodeOptions = []) {
    const program = serve ? [join(here, serve[0]), ...serve.slice(1)] : ["-e", code];
    const [file, ...args] = command ?? [process.execPath, ...nodeOptions, ...program];
    const child = spawn(...commandOn(core, file, args), {
      cwd: here,
      env: { ...process.env, NODE_ENV: "production", ...(workload && { BENCH_WORKLOAD: workload }) },
      stdio: ["pipe", "pipe", "pipe", ...(ipc ? ["ipc"] : [])],
    });
    running.add(child);
    this.#process = child;
    this.#gone = once(child, "close").finally(() => running.delete(child));
    this.#gone.catch(() => {}); // what could not start is told by `untilGone`
    child.stdin.on("error", () => {}); // it ended: told by `untilGone`
    child.stderr.setEncoding("utf8").on("data", (text) => {
      this.#stderr = (this.#stderr + text).slice(-2_000);
    });
  }

  get pid() {
    return this.#process.pid;
  }

  get stdin() {
    return this.#process.stdin;
  }

  get stdout() {
    return this.#process.stdout;
  }

  /** Sends it a message, and gives the one that it sends back. */
  async ask(message) {
    const answered = once(this.#process, "message");
    this.#process.send(message);
    const [answer] = await Promise.race([answered, this.untilGone()]);
    return answer;
  }

  /** Resolves when the process has ended by itself. */
  async untilOver() {
    await this.#gone;
  }

  /** Rejects when the process ends, with its last words. */
  async untilGone() {
    const [code, signal] = await this.#gone;
    const words = this.#stderr.trim().split("\n").slice(-5).join(" | ");
    throw new ContenderError(`ended (${signal ?? `exit code ${code}`})${words ? `: ${words}` : ""}`);
  }

  /** Closes its stdin, at which our servers end, and tells others to; kills it if it does not. */
  async end({ tell = false } = {}) {
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), END_MS);
    this.#process.stdin.end();
    if (tell) this.#process.kill("SIGTERM");
    await this.#gone.catch(() => {});
    clearTimeout(timer);
  }
}
