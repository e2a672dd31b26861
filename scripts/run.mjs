/** Runs a program to its end, with no input and its output on ours. */

import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Gives the exit code; 127 when the program could not be started. An interrupt ends the program, then us.
 *
 * @param options.stdout where its output goes: 2 for our stderr, when our stdout is for machines
 */
export function run(command, args, { cwd = ROOT, env = process.env, stdout = "inherit" } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", stdout, "inherit"] });
    let interrupted;
    const stop = (signal) => {
      interrupted = signal;
      child.kill(signal);
    };
    process.on("SIGINT", stop);
    process.on("SIGTERM", stop);
    const settle = (code) => {
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
      if (interrupted !== undefined) process.exit(interrupted === "SIGINT" ? 130 : 143);
      resolve(code);
    };
    child.once("error", (error) => {
      console.error(`${command} could not be started: ${error.message}`);
      settle(127);
    });
    // A null code is a signal's doing, ours or another's.
    child.once("exit", (code) => settle(code ?? 1));
  });
}

/** Runs Node, this one or another, on a file of the repository. */
export function runNode(file, args, { node = process.execPath, ...options } = {}) {
  return run(node, [file, ...args], options);
}
