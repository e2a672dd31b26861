/** Drives a contender over Streamable HTTP: a connection for each call that is open at a time, a session for each connection. */

import { once } from "node:events";
import { Child } from "../child.mjs";
import { ClosedLoop } from "../closed-loop.mjs";
import { withChildren } from "../machine.mjs";
import { FIRST_NUMBER, metadataHeaders, requestWriter } from "../messages.mjs";
import { HttpConnection } from "./http-connection.mjs";
import { baseHeaders, shakeHands } from "./session.mjs";

/** @param {import("../messages.mjs").Call} call */
export function http(call) {
  return async function open(contender, { nodeOptions, concurrency }) {
    const store = await contender.store?.();
    const child = new Child(
      { ...contender, serve: [...contender.serve, ...(store ? [store.url] : [])] },
      nodeOptions,
    );
    const gone = child.untilGone();
    gone.catch(() => {});
    const [said] = await Promise.race([once(child.stdout.setEncoding("utf8"), "data"), gone]);
    const connect = () => new HttpConnection(portIn(said), baseHeaders(contender));

    const write = requestWriter(call, contender.revision);
    const length = write(FIRST_NUMBER).length;
    const metadata = metadataHeaders(contender.revision, call.method, call.name);
    const heads = [];
    for (let slot = 0; slot < concurrency; slot++) {
      const connection = connect();
      const session = contender.bare
        ? {}
        : await Promise.race([shakeHands(connection, contender.revision), gone]);
      heads.push(connection.headOf({ ...metadata, ...session }, length));
      connection.close();
    }

    let connections = [];
    const loop = new ClosedLoop(call, concurrency, (slot, n) =>
      connections[slot].send(heads[slot] + write(n)),
    );
    const listen = (connection) => {
      connection.onError = (error) => loop.fail(error);
      connection.onResponse = (response) => {
        if (response.status === 200) loop.take(response.body, messageIn);
        else loop.fail(`HTTP ${response.status}: ${response.body.slice(0, 200)}`);
      };
    };
    return {
      pids: contender.workers ? withChildren(child.pid) : [child.pid],
      known: () => loop.known,
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
        await child.end({ tell: contender.workers !== undefined });
        await store?.end();
      },
    };
  };
}

/** What a server says once it listens: its port, or its URL. */
function portIn(said) {
  return Number(/:(\d+)\/mcp|^(\d+)/.exec(said).slice(1).find(Boolean));
}

/** The JSON-RPC response in a body, or in its last event, and how many events came before that. */
function messageIn(body) {
  try {
    if (body.startsWith("{")) return { message: JSON.parse(body), notifications: 0 };
    const events = body.split(/\r?\n\r?\n/).filter((text) => /^data: *\S/m.test(text));
    return { message: JSON.parse(dataOf(events.pop())), notifications: events.length };
  } catch {
    return undefined;
  }
}

function dataOf(event) {
  const data = event.split(/\r?\n/).filter((line) => line.startsWith("data:"));
  return data.map((line) => line.slice("data:".length)).join("\n");
}
