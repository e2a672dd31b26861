/** One large message at a time, over HTTP or stdio: timed until its answer is there whole, and only then looked at. */

import { once } from "node:events";
import { Agent, request } from "node:http";
import { Child } from "../child.mjs";
import { ContenderError } from "../closed-loop.mjs";
import { ready } from "../contenders.mjs";
import { handshake, metadataHeaders, requestOf } from "../messages.mjs";

/** The tools of workload `large`: what is asked for so many bytes, and what the text of the answer is then. */
export const GIVE = {
  name: "give",
  args: (bytes) => ({ bytes }),
  isRight: (text, bytes) => text.length === bytes,
};
export const TAKE = {
  name: "take",
  args: (bytes) => ({ text: "x".repeat(bytes) }),
  isRight: (text, bytes) => text === String(bytes),
};

/**
 * @typedef {object} OpenedForLarge
 * @property {number} pid
 * @property {(bytes: number) => Promise<number>} call calls the tool, and gives the milliseconds that took
 * @property {() => Promise<void>} close
 */

/** @param {import("../contenders.mjs").Contender & { tool: GIVE, over: "http" | "stdio" }} contender */
export async function openForLarge({ over, tool, ...contender }) {
  const child = new Child({ ...contender, workload: "large" });
  const gone = child.untilGone();
  gone.catch(() => {});
  const exchange = await (over === "http" ? overHttp : overStdio)(child, contender, gone);
  let id = 0;
  return {
    pid: child.pid,
    async call(bytes) {
      const params = { name: tool.name, arguments: tool.args(bytes) };
      const text = JSON.stringify(requestOf(contender.revision, ++id, "tools/call", params));
      const before = performance.now();
      const answer = await ready(Promise.race([exchange(text, "tools/call", tool.name), gone]), "answered");
      const ms = performance.now() - before;
      check(answer, tool, bytes);
      return ms;
    },
    close: () => child.end(),
  };
}

function check(answer, tool, bytes) {
  let message;
  try {
    message = JSON.parse(answer);
  } catch {
    throw new ContenderError(`answered with no message: ${answer.slice(0, 200)}`);
  }
  const text = message.result?.content?.[0]?.text;
  if (typeof text !== "string" || !tool.isRight(text, bytes)) {
    throw new ContenderError(`wrong result: ${JSON.stringify(message).slice(0, 200)}`);
  }
}

async function overHttp(child, { revision }, gone) {
  const [port] = await ready(Promise.race([once(child.stdout.setEncoding("utf8"), "data"), gone]));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return (body, method, name) =>
    new Promise((resolve, reject) => {
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "content-length": Buffer.byteLength(body),
        ...metadataHeaders(revision, method, name),
      };
      const posting = request(
        { agent, host: "127.0.0.1", port: Number(port), path: "/mcp", method: "POST", headers },
        (response) => {
          const chunks = [];
          response.on("data", (chunk) => chunks.push(chunk));
          response.on("end", () => {
            const text = Buffer.concat(chunks).toString();
            if (response.statusCode === 200) resolve(text.startsWith("{") ? text : dataOf(text));
            else reject(new ContenderError(`HTTP ${response.statusCode}: ${text.slice(0, 200)}`));
          });
        },
      );
      posting.on("error", reject);
      posting.end(body);
    });
}

/** The data of the last event. */
function dataOf(stream) {
  const line =
    stream
      .trimEnd()
      .split("\n")
      .findLast((each) => each.startsWith("data:")) ?? "";
  return line.slice("data:".length);
}

async function overStdio(child, { revision, bare }, gone) {
  let chunks = [];
  let onAnswer = () => {};
  child.stdout.on("data", (chunk) => {
    chunks.push(chunk);
    if (chunk.at(-1) !== NEWLINE) return;
    const text = Buffer.concat(chunks).toString();
    chunks = [];
    onAnswer(text);
  });
  const exchange = (text) => {
    child.stdin.write(`${text}\n`);
    return new Promise((resolve) => {
      onAnswer = resolve;
    });
  };
  for (const message of bare ? [] : handshake(revision)) {
    if (message.id === undefined) child.stdin.write(`${JSON.stringify(message)}\n`);
    else await ready(Promise.race([exchange(JSON.stringify(message)), gone]));
  }
  return exchange;
}

const NEWLINE = 10;
