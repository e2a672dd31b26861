/** The soak: mixed clients for a while; the server's memory must stay, its descriptors must come back, its answers be right. */

import { setMaxListeners } from "node:events";
import { readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connect } from "@patchbay/client";
import { startProgram } from "../deploy/processes/program.mjs";
import { caller, halfOpen, leaver, slowReader, vanisher } from "./actors.mjs";
import { Figures } from "./figures.mjs";

const SERVER = fileURLToPath(new URL("./server.mjs", import.meta.url));
/** The part of a run in which caches, pools and sessions fill up. */
const WARM_UP = 0.4;
const MAX_GROWTH = 0.1;
/** Seconds after which resident memory is judged too. */
const SETTLES = 60;
/** A heap this small moves by more than a tenth when one stream opens. */
const GRAIN = 1024 * 1024;

/**
 * @param {number} seconds
 * @returns {Promise<{ fine: boolean, report: object }>}
 */
export async function soak(seconds, tell) {
  const server = await startProgram(process.execPath, ["--expose-gc", SERVER], { ready: /\/mcp/ });
  try {
    return await run(server, seconds, tell);
  } finally {
    await server.end();
  }
}

async function run(server, seconds, tell) {
  const [url] = /http:\S+/.exec(server.said());
  const figures = new Figures();
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const stage = { url, figures, signal: over.signal };
  const watch = await connect(url, { era: "modern" });
  const descriptorsBefore = descriptors(server.pid);
  const began = performance.now();
  const acting = [
    ...Array.from({ length: 4 }, () => caller(stage, { era: "modern" })),
    ...Array.from({ length: 4 }, () => caller(stage, { era: "legacy" })),
    ...Array.from({ length: 2 }, () => caller(stage, { era: "legacy", sse: true })),
    ...Array.from({ length: 2 }, () => leaver(stage)),
    ...Array.from({ length: 2 }, () => slowReader(stage)),
    ...Array.from({ length: 4 }, () => halfOpen(stage)),
    ...Array.from({ length: 2 }, () => vanisher(stage)),
  ];
  // An actor that fails ends the run: it would be a run without it.
  const all = Promise.all(acting).catch((error) => {
    figures.wrong("an actor failed", error?.stack ?? error);
    over.abort();
  });

  const samples = [];
  const every = Math.max(500, (seconds * 1000) / 60);
  while (performance.now() - began < seconds * 1000 && !over.signal.aborted) {
    await delay(every, undefined, { signal: over.signal }).catch(() => {});
    samples.push({
      at: (performance.now() - began) / 1000,
      ...(await memoryOf(watch)),
      descriptors: descriptors(server.pid),
    });
    tell(samples.at(-1));
  }
  over.abort();
  await all;
  const descriptorsAfter = await settledDescriptors(server.pid, descriptorsBefore);
  await watch.close();

  const memory = compare(samples, "held", GRAIN);
  const resident = compare(samples, "rss", 8 * GRAIN);
  if (memory.growth > MAX_GROWTH) figures.wrong("memory grew", `${memory.first} → ${memory.last} MiB`);
  // What is resident settles late: the collector has its own pace.
  if (resident.growth > MAX_GROWTH && samples.at(-1).at >= SETTLES)
    figures.wrong("resident memory grew", `${resident.first} → ${resident.last} MiB`);
  if (descriptorsAfter > descriptorsBefore) {
    figures.wrong("descriptors are left", `${descriptorsBefore} → ${descriptorsAfter}`);
  }
  if (!server.alive()) figures.wrong("the server died", server.said());
  return {
    fine: figures.wrongs === 0,
    report: {
      seconds: Math.round((performance.now() - began) / 1000),
      memoryMiB: memory,
      residentMiB: resident,
      descriptors: {
        before: descriptorsBefore,
        most: Math.max(...samples.map((each) => each.descriptors)),
        after: descriptorsAfter,
      },
      ...figures.toJSON(),
    },
  };
}

async function memoryOf(watch) {
  const { content } = await watch.callTool("memory");
  return JSON.parse(content[0].text);
}

/** The first half after the warm-up against the second half, by their medians. */
function compare(samples, key, grain) {
  const warm = samples.slice(Math.floor(samples.length * WARM_UP));
  const middle = Math.floor(warm.length / 2);
  const [first, last] = [warm.slice(0, middle), warm.slice(middle)].map((part) =>
    median(part.map((each) => each[key])),
  );
  const grown = last - first;
  return {
    first: toMiB(first),
    last: toMiB(last),
    growth: grown <= grain ? Math.min(grown / first, MAX_GROWTH) : grown / first,
  };
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function toMiB(bytes) {
  return Math.round((bytes / 1024 / 1024) * 10) / 10;
}

/** What a process has open (Linux; elsewhere 0). */
function descriptors(pid) {
  return process.platform === "linux" ? readdirSync(`/proc/${pid}/fd`).length : 0;
}

/** As soon as there are as few as before; what there are in the end, if that never comes. */
async function settledDescriptors(pid, before) {
  for (let tries = 0; tries < 100 && descriptors(pid) > before; tries++) await delay(100);
  return descriptors(pid);
}
