/** The fault run: clients of three instances behind HAProxy, which are killed in turn while Redis restarts twice. */

import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ConnectionError, connect, TimeoutError } from "@patchbay/client";
import { ProtocolError } from "@patchbay/core";
import { startBalancer } from "../deploy/processes/balancers.mjs";
import { startInstances } from "../deploy/processes/instances.mjs";
import { startRedis } from "../deploy/processes/redis.mjs";
import { Figures } from "./figures.mjs";

const SERVER = fileURLToPath(new URL("./faults-server.mjs", import.meta.url));
const KILL_EVERY = 2000;
/** A call that only the client's own limit ends hangs: `timeout`, by default. */
const PATIENCE = 60_000;
const WORD = "yes, please";

/**
 * @param {number} seconds
 * @param {(sample: object) => void} tell
 * @param {number} [count] of clients
 * @returns {Promise<{ fine: boolean, report: object }>}
 */
export async function faults(seconds, tell, count = 200) {
  const folder = mkdtempSync(join(tmpdir(), "patchbay-faults-"));
  const effects = join(folder, "effects");
  writeFileSync(effects, "");
  const redis = await startRedis();
  const started = [redis.stop];
  try {
    const env = { SOAK_EFFECTS: effects, PATCHBAY_SECRETS: randomUUID() + randomUUID() };
    const instances = await startInstances([SERVER, "--sessions", "redis"], {
      ...env,
      REDIS_URL: redis.url,
    });
    started.push(...instances.map((instance) => () => instance.end("SIGKILL")));
    const balancer = await startBalancer("haproxy", "round-robin", instances);
    started.push(balancer.stop);
    return await run({ url: balancer.url, instances, redis, effects }, seconds * 1000, tell, count);
  } finally {
    for (const stop of started.reverse()) await stop();
    rmSync(folder, { recursive: true });
  }
}

async function run({ url, instances, redis, effects }, ms, tell, count) {
  const figures = new Figures();
  /** Keys of the charges that were answered as made. */
  const charged = [];
  const clients = await Promise.all(
    Array.from({ length: count }, (_, number) => connectOne(url, number % 2 === 0 ? "modern" : "legacy")),
  );
  const over = new AbortController();
  const using = clients.map((client) => use(client, figures, charged, over.signal));
  const began = performance.now();
  await Promise.all([
    killInTurn(instances, began + ms, figures, tell),
    ...[1 / 3, 2 / 3].map(async (part) => {
      await delay(ms * part);
      await redis.restart();
      figures.count("restarts of Redis");
    }),
  ]);
  over.abort();
  await Promise.all(using);

  // All is well again: so is every client.
  await Promise.all(clients.map((client) => once(client, "echo", figures, charged, "after the faults")));
  await Promise.all(clients.map((client) => client.close().catch(() => {})));
  judge(figures, charged, readFileSync(effects, "utf8").split("\n").slice(0, -1));
  return {
    fine: figures.wrongs === 0,
    report: {
      seconds: Math.round((performance.now() - began) / 1000),
      clients: count,
      ...figures.toJSON(),
    },
  };
}

function connectOne(url, era) {
  const onElicit = () => ({ action: "accept", content: { word: WORD } });
  return connect(url, { era, onElicit, probeTimeout: PATIENCE });
}

async function killInTurn(instances, until, figures, tell) {
  for (let turn = 0; performance.now() + KILL_EVERY < until; turn++) {
    const next = delay(KILL_EVERY);
    const instance = instances[turn % instances.length];
    await instance.end("SIGKILL");
    await instance.start();
    figures.count("instances killed");
    tell({ killed: instance.name, ...figures.toJSON().counts });
    await next;
  }
}

async function use(client, figures, charged, signal) {
  while (!signal.aborted) {
    const kind = ["echo", "echo", "charge", "steps"][Math.floor(Math.random() * 4)];
    await once(client, kind, figures, charged);
    await delay(200 + 600 * Math.random(), undefined, { signal }).catch(() => {});
  }
}

/** One call; it ends in its right result or in a clear error, and in time. */
async function once(client, kind, figures, charged, mustSucceed) {
  const key = randomUUID();
  const began = performance.now();
  const name = `${kind}, ${client.era}`;
  try {
    const result = await client.callTool(kind, { echo: { message: key }, charge: { key }, steps: {} }[kind]);
    const [{ text }] = result.content;
    const right = { echo: key, charge: `${key} accept ${WORD}`, steps: "stepped" }[kind];
    if (text === right) {
      figures.count(`right: ${name}`);
      if (kind === "charge") charged.push(key);
    } else if (result.isError) figures.error(`${name}: a result that says it failed`, text);
    else figures.wrong("wrong answers", `${text} instead of ${right} (${name})`);
  } catch (error) {
    if (mustSucceed) figures.wrong(`an error ${mustSucceed}`, error);
    else if (error instanceof TimeoutError) figures.wrong(`hangs: ${name}`, error.message);
    else if (error instanceof ConnectionError || error instanceof ProtocolError) {
      figures.error(`${name}: ${error.name}`, error.message);
    } else figures.wrong("errors that are not clear", error?.stack ?? error);
  }
  const took = performance.now() - began;
  figures.took(took);
  if (took > PATIENCE + 10_000) figures.wrong(`hangs: ${name}`, `took ${Math.round(took)} ms`);
}

/** What was charged was charged once. */
function judge(figures, charged, effects) {
  const times = new Map();
  for (const key of effects) times.set(key, (times.get(key) ?? 0) + 1);
  for (const [key, count] of times)
    if (count > 1) figures.wrong("duplicates of a step", `${key}: ${count} times`);
  for (const key of charged) if (!times.has(key)) figures.wrong("wrong answers", `${key} was not charged`);
}
