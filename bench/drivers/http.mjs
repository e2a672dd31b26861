/** Drives a contender over Streamable HTTP: a connection for each call that is open at a time, a session for each connection. */

import { once } from "node:events";
import { Child } from "../child.mjs";
import { ClosedLoop, ContenderError } from "../closed-loop.mjs";
import { FIRST_NUMBER, handshake, isModern, metadataHeaders, requestWriter } from "../messages.mjs";
import { HttpConnection } from "./http-connection.mjs";

const CONCURRENCY = 64;

/** @param {import("../messages.mjs").Call} call */
export function http(call) {
  return async function open(contender, nodeOptions) {
    const child = new Child(contender.serve, nodeOptions);
    const gone = child.untilGone();
    gone.catch(() => {});
    const [port] = await Promise.race([once(child.stdout.setEncoding("utf8"), "data"), gone]);
    const connect = () => new HttpConnection(Number(port), baseHeaders(contender));

    const write = requestWriter(call, contender.revision);
    const length = write(FIRST_NUMBER).length;
    const metadata = metadataHeaders(contender.revision, call.method, call.name);
    const heads = [];
    for (let slot = 0; slot < CONCURRENCY; slot++) {
      const connection = connect();
      const session = contender.floor
        ? {}
        : await Promise.race([shakeHands(connection, contender.revision), gone]);
      heads.push(connection.headOf({ ...metadata, ...session }, length));
      connection.close();
    }

    let connections = [];
    const loop = new ClosedLoop(call, CONCURRENCY, (slot, n) =>
      connections[slot].send(heads[slot] + write(n)),
    );
    const listen = (connection) => {
      connection.onError = (error) => loop.fail(error);
      connection.onResponse = (response) => {
        const message = response.status === 200 ? messageIn(response) : undefined;
        if (message) loop.answer(message);
        else loop.fail(`HTTP ${response.status}: ${response.body.slice(0, 200)}`);
      };
    };
    return {
      pid: child.pid,
      /** Opens fresh connections: a server closes those that were idle while others had their round. */
      async ready() {
        for (const connection of connections) connection.close();
        connections = heads.map(connect);
        await Promise.race([Promise.all(connections.map((connection) => connection.opened())), gone]);
        connections.forEach(listen);
      },
      run: (ms) => Promise.race([loop.run(ms), gone]),
      async close() {
        for (const connection of connections) connection.close();
        await child.end();
      },
    };
  };
}

function baseHeaders({ accept = "application/json, text/event-stream" }) {
  return { "content-type": "application/json", accept };
}

/** Opens a legacy session; gives the header that names it. A modern client asks nothing first over HTTP. */
async function shakeHands(connection, revision) {
  if (isModern(revision)) return {};
  let session = {};
  for (const message of handshake(revision)) {
    const headers = { ...metadataHeaders(revision, message.method), ...session };
    const response = await connection.exchange(headers, JSON.stringify(message));
    if (response.status >= 300) {
      throw new ContenderError(`${message.method}: HTTP ${response.status}: ${response.body.slice(0, 200)}`);
    }
    const id = /\r\nmcp-session-id: *([^\r]+)/i.exec(response.head);
    if (id) session = { "mcp-session-id": id[1] };
  }
  return session;
}

/** The JSON-RPC response in an HTTP response: its body, or its last event with data; undefined if there is none. */
function messageIn({ body }) {
  try {
    return JSON.parse(body.startsWith("{") ? body : dataOfLastEvent(body));
  } catch {
    return undefined;
  }
}

function dataOfLastEvent(body) {
  const event = body.split(/\r?\n\r?\n/).findLast((text) => /^data:/m.test(text)) ?? "";
  const data = event.split(/\r?\n/).filter((line) => line.startsWith("data:"));
  return data.map((line) => line.slice("data:".length)).join("\n");
}
