/** The floor of stdio clients: a line for each call, and a promise for each answer. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { echo, requestWriter } from "../messages.mjs";
import { calling, revision, target } from "./calling.mjs";

const { stdin, stdout } = spawn(target.command, target.args, { stdio: ["pipe", "pipe", "inherit"] });
const write = requestWriter(echo, revision);
const waiting = new Map();
createInterface({ input: stdout }).on("line", (line) => {
  const { id, result } = JSON.parse(line);
  waiting.get(id)(result);
  waiting.delete(id);
});
process.on("exit", () => stdin.destroy());

calling((_args, n) => {
  stdin.write(`${write(n)}\n`);
  return new Promise((resolve) => waiting.set(n, resolve));
});
