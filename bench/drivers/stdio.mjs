/** Drives a contender over stdio: one process, many calls in flight on its one pipe. */

import { Child } from "../child.mjs";
import { ClosedLoop, ContenderError } from "../closed-loop.mjs";
import { handshake, requestWriter } from "../messages.mjs";

const IN_FLIGHT = 64;

/** @param {import("../messages.mjs").Call} call */
export function stdio(call) {
  return async function open(contender, nodeOptions) {
    const child = new Child(contender.serve, nodeOptions);
    const gone = child.untilGone();
    gone.catch(() => {});
    let onMessage = () => {};
    const write = requestWriter(call, contender.revision);
    let outgoing = "";
    const flush = () => {
      if (outgoing !== "") child.stdin.write(outgoing, "latin1");
      outgoing = "";
    };

    let rest = "";
    child.stdout.setEncoding("latin1").on("data", (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const message = parse(line);
        if (message instanceof Error) loop.fail(message);
        else if (message.id !== undefined) onMessage(message);
      }
      flush(); // what these answers made us ask goes out in one write, as it came in
    });
    const loop = new ClosedLoop(call, IN_FLIGHT, (_slot, n) => {
      outgoing += `${write(n)}\n`;
    });

    for (const message of contender.floor ? [] : handshake(contender.revision)) {
      const answered = new Promise((resolve) => {
        onMessage = resolve;
      });
      child.stdin.write(`${JSON.stringify(message)}\n`);
      if (message.id === undefined) continue;
      const { error } = await Promise.race([answered, gone]);
      if (error) throw new ContenderError(`${message.method}: error ${error.code}: ${error.message}`);
    }
    onMessage = (message) => loop.answer(message);
    return {
      pid: child.pid,
      ready: async () => {},
      run(ms) {
        const result = loop.run(ms);
        flush();
        return Promise.race([result, gone]);
      },
      close: () => child.end(),
    };
  };
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return new ContenderError(`printed a line that is no message: ${line.slice(0, 200)}`);
  }
}
