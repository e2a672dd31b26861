/** Drives a client: it makes the calls, in a process on the core that is measured, and its server runs on the other. */

import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Child } from "../child.mjs";
import { ContenderError } from "../closed-loop.mjs";
import { commandOn } from "../machine.mjs";

const pathOf = (file) => fileURLToPath(new URL(`../servers/${file}`, import.meta.url));

/** Over HTTP: the server is a process of its own. */
export async function httpClient(contender, plan) {
  const server = new Child({ serve: ["servers/target-http.mjs", contender.revision], core: "load" });
  const port = await firstLine(server);
  const opened = await open(contender, plan, { url: `http://127.0.0.1:${port}/mcp` });
  return {
    ...opened,
    async close() {
      await opened.close();
      await server.end();
    },
  };
}

/** Over stdio: the client starts its server itself. */
export function stdioClient(contender, plan) {
  const [command, args] = commandOn("load", process.execPath, [
    pathOf("target-stdio.mjs"),
    contender.revision,
  ]);
  return open(contender, plan, { command, args });
}

async function open({ serve: [file, ...args], revision }, { nodeOptions, concurrency }, target) {
  const child = new Child({ serve: [file, JSON.stringify(target), revision, ...args] }, nodeOptions);
  const gone = child.untilGone();
  gone.catch(() => {});
  const lines = linesOf(child);
  await Promise.race([lines.next(), gone]);
  return {
    pids: [child.pid],
    ready: async () => {},
    async run(ms) {
      child.stdin.write(`${concurrency} ${ms}\n`);
      return JSON.parse(await Promise.race([lines.next(), gone]));
    },
    close: () => child.end(),
  };
}

async function firstLine(child) {
  const gone = child.untilGone();
  gone.catch(() => {});
  return Promise.race([linesOf(child).next(), gone]);
}

function linesOf(child) {
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async next() {
      const { value, done } = await lines.next();
      if (done) throw new ContenderError("ended without an answer");
      return value;
    },
  };
}
