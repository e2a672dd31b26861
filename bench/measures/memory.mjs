/**
 * What a legacy session keeps in a server's memory: idle, with its stream open, and once it is over. What is counted is
 * heap and external memory after collecting, so that nothing that could be let go is.
 */

import { once } from "node:events";
import { Child } from "../child.mjs";
import { attempt, entriesOf, ready, rowOf } from "../contenders.mjs";
import { HttpConnection } from "../drivers/http-connection.mjs";
import { baseHeaders, shakeHands } from "../drivers/session.mjs";
import { metadataHeaders } from "../messages.mjs";
import { bytes } from "../report/cells.mjs";

/** Connections at a time that sessions are opened on, and streams opened at a time. */
const AT_A_TIME = 64;

/** @type {import("../scenarios.mjs").Measured} */
export const memory = {
  columns: [
    { head: "idle session", cell: (row) => bytes(row.idle) },
    { head: "its open stream", cell: (row) => bytes(row.stream) },
    { head: "above bare's", cell: (row) => bytes(row.streamAbove) },
    { head: "finished session", cell: (row) => bytes(row.finished) },
    { head: "sessions", cell: (row) => row.sessions.toLocaleString("en") },
  ],
  notes: () => [
    "For each session, of so many; measured in the second such cycle, as what is made once is made in the first. What is " +
      "left of bare's streams is the measure of the noise. Sealed sessions are nowhere, but what is known of their ids is: " +
      "of the last ones that ended, too.",
  ],
  async measure(scenario, plan, tell) {
    const entries = entriesOf(scenario.contenders);
    for (const entry of entries) {
      tell(`${scenario.name}: ${entry.contender.name}`);
      await attempt(entry, async () => entry.samples.push(await kept(entry.contender, plan)));
    }
    const floor = entries.find((entry) => entry.contender.floor)?.samples[0];
    return entries.map((entry) => {
      const row = rowOf(entry);
      if (row.missing !== undefined) return row;
      const [sample] = entry.samples;
      if (!floor || entry.contender.floor) return { ...row, ...sample };
      const above = {
        streamAbove: sample.stream - floor.stream,
        finishedAbove: sample.finished - floor.finished,
      };
      return { ...row, ...sample, ...above };
    });
  },
};

/** Bytes for each session. */
async function kept(contender, plan) {
  const sessions = Math.min(plan.sessions, contender.sessions ?? plan.sessions);
  const probe = ["--expose-gc", "--import", new URL("../servers/memory-probe.mjs", import.meta.url).href];
  const server = new Child({ ...contender, ipc: true }, probe);
  const gone = server.untilGone();
  gone.catch(() => {});
  try {
    const [port] = await ready(Promise.race([once(server.stdout.setEncoding("utf8"), "data"), gone]));
    const used = async () => (await server.ask("memory")).used;
    const cycle = () => Promise.race([liveAndDie(contender, Number(port), sessions, used), gone]);
    await cycle(); // what is made once is made now
    const { before, opened, streaming, after } = await cycle();
    return {
      sessions,
      idle: contender.bare ? undefined : (opened - before) / sessions,
      stream: (streaming - opened) / sessions,
      finished: (after - before) / sessions,
    };
  } finally {
    await server.end();
  }
}

/** Opens so many sessions, then their streams, then ends them all; what is in use at each step. */
async function liveAndDie(contender, port, sessions, used) {
  const { revision, bare } = contender;
  const connect = () => new HttpConnection(port, baseHeaders(contender));
  const before = await used();
  const ids = bare
    ? Array.from({ length: sessions }, () => ({}))
    : await onConnections(connect, sessions, (connection) => shakeHands(connection, revision));
  const opened = await used();

  const metadata = metadataHeaders(revision, undefined);
  const streams = ids.map(() => undefined);
  await each(ids, async (id, index) => {
    const stream = new HttpConnection(port, { accept: "text/event-stream" });
    await stream.opened();
    await stream.openStream({ ...metadata, ...id });
    stream.onError = () => {};
    streams[index] = stream;
  });
  const streaming = await used();
  for (const stream of streams) stream.close();
  if (!bare) {
    await onConnections(connect, sessions, (connection, index) =>
      connection.exchange({ ...metadata, ...ids[index] }, "", "DELETE"),
    );
  }
  return { before, opened, streaming, after: await used() };
}

/** Does something so many times, on a few connections that are closed afterwards. */
async function onConnections(connect, count, action) {
  const results = Array.from({ length: count });
  const free = [];
  await each(results, async (_, index) => {
    const connection = free.pop() ?? connect();
    results[index] = await action(connection, index);
    free.push(connection);
  });
  for (const connection of free) connection.close();
  return results;
}

async function each(items, action) {
  let next = 0;
  async function oneAfterAnother() {
    while (next < items.length) {
      const index = next++;
      await action(items[index], index);
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_A_TIME, items.length) }, oneAfterAnother));
}
