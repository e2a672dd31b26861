/** How long a server takes to start: from spawning it to its answer to a first request on stdio, above `node -e 0`. */

import { once } from "node:events";
import { Child } from "../child.mjs";
import { attempt, entriesOf, interleaved, ready, rowOf } from "../contenders.mjs";
import { median, spread } from "../medians.mjs";
import { handshake } from "../messages.mjs";
import { milliseconds, percent } from "../report/cells.mjs";

/** @type {import("../scenarios.mjs").Measured} */
export const start = {
  columns: [
    { head: "ms", cell: (row) => milliseconds(row.ms) },
    { head: "±", cell: (row) => percent(row.spread) },
    { head: "above node -e 0", cell: (row) => milliseconds(row.above) },
  ],
  async measure(scenario, plan, tell) {
    const entries = entriesOf(scenario.contenders);
    if (plan.starts > 1) {
      for (const entry of entries) await attempt(entry, () => startOnce(entry.contender)); // files are in the cache then
    }
    for (const { entry, round } of interleaved(entries, plan.starts)) {
      tell(`${scenario.name}: start ${round}: ${entry.contender.name}`);
      await attempt(entry, async () => entry.samples.push(await startOnce(entry.contender)));
    }
    const floor = entries.find((entry) => entry.contender.floor);
    return entries.map((entry) => {
      const row = rowOf(entry);
      if (row.missing !== undefined) return row;
      const { samples } = entry;
      const above = floor && floor !== entry ? samples.map((ms, i) => ms - floor.samples[i]) : [];
      return { ...row, ms: median(samples), spread: spread(samples), above: median(above), samples };
    });
  },
};

/** @returns {Promise<number>} milliseconds */
async function startOnce({ serve, eval: code, revision }) {
  const before = performance.now();
  if (code !== undefined) {
    const child = new Child({ code });
    await child.untilOver();
    return performance.now() - before;
  }
  const child = new Child({ serve });
  const gone = child.untilGone();
  gone.catch(() => {});
  try {
    child.stdin.write(`${JSON.stringify(handshake(revision)[0])}\n`);
    await ready(Promise.race([once(child.stdout, "data"), gone]));
    return performance.now() - before;
  } finally {
    await child.end();
  }
}
