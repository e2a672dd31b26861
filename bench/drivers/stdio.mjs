/** Drives a contender over stdio: one process, many calls in flight on its one pipe. */

import { Child } from "../child.mjs";
import { ClosedLoop, ContenderError } from "../closed-loop.mjs";
import { handshake, requestWriter } from "../messages.mjs";

/** @param {import("../messages.mjs").Call} [usual] what is called, where a contender has no call of its own */
export function stdio(usual) {
  return async function open(contender, { nodeOptions, concurrency }) {
    const call = contender.call ?? usual;
    const child = new Child(contender, nodeOptions);
    const gone = child.untilGone();
    gone.catch(() => {});
    let onLine = () => {};
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
      for (const line of lines) onLine(line);
      flush(); // what these answers made us ask goes out in one write, as it came in
    });
    const loop = new ClosedLoop(call, concurrency, (_slot, n) => {
      outgoing += `${write(n)}\n`;
    });

    for (const message of contender.bare ? [] : handshake(contender.revision)) {
      const answered = new Promise((resolve, reject) => {
        onLine = (line) => {
          const read = messageIn(line);
          if (read === undefined)
            reject(new ContenderError(`printed what is no message: ${line.slice(0, 200)}`));
          else if (read.message.id !== undefined) resolve(read.message);
        };
      });
      child.stdin.write(`${JSON.stringify(message)}\n`);
      if (message.id === undefined) continue;
      const { error } = await Promise.race([answered, gone]);
      if (error) throw new ContenderError(`${message.method}: error ${error.code}: ${error.message}`);
    }
    onLine = (line) => loop.take(line, messageIn);
    return {
      pids: [child.pid],
      known: () => loop.known,
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

function messageIn(line) {
  try {
    return { message: JSON.parse(line), notifications: 0 };
  } catch {
    return undefined;
  }
}
