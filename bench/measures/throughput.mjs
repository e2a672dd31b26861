/** Calls a second: contenders are opened and warmed up, then measured in interleaved rounds; medians are taken. */

import { attempt, entriesOf, interleaved, ready, rowOf } from "../contenders.mjs";
import { cpuMeter } from "../machine.mjs";
import { median, medianRatio, spread } from "../medians.mjs";
import { isModern } from "../messages.mjs";
import { percent } from "../report/cells.mjs";

/** Below this, something else than the contender was what limited the run. */
const BUSY_ENOUGH = 0.85;

/**
 * @typedef {object} Opened a contender that is ready for load
 * @property {number[]} pids of what is measured
 * @property {() => Promise<void>} ready called before each run, and not measured
 * @property {(ms: number) => Promise<import("../closed-loop.mjs").Sample>} run
 * @property {() => import("../known-answer.mjs").KnownAnswer | undefined} [known] what it answers
 * @property {() => Promise<void>} close
 */

const COLUMNS = [
  { head: "calls/s", cell: (row) => Math.round(row.perSecond).toLocaleString("en") },
  { head: "±", cell: (row) => percent(row.spread) },
  { head: "of bare", cell: (row) => percent(row.ofFloor) },
  { head: "ours is", cell: (row) => times(row.oursOver) },
  { head: "p50 ms", cell: (row) => row.p50?.toFixed(2) },
  { head: "p99 ms", cell: (row) => row.p99?.toFixed(2) },
  { head: "CPU µs/call", cell: (row) => row.cpuMicros?.toFixed(1) },
  { head: "CPU of bare", cell: (row) => percent(row.cpuOfFloor) },
  { head: "busy", cell: (row) => percent(row.busy) },
];

const times = (factor) => factor && `${factor.toFixed(factor < 10 ? 1 : 0)}×`;

/**
 * @param {(contender: import("../contenders.mjs").Contender, plan: import("../run.mjs").Plan) => Promise<Opened>} driver
 * @param {{ floor?: string, sameBytes?: boolean }} [about] what bare is called; whether ours has to answer its very bytes
 */
export function throughput(driver, { floor = "bare", sameBytes = false } = {}) {
  const columns = COLUMNS.map(({ head, cell }) => ({ head: head.replace("bare", floor), cell }));
  return {
    columns,
    notes,
    measure: async (scenario, plan, tell) => {
      const entries = entriesOf(scenario.contenders);
      try {
        for (const entry of entries) {
          await attempt(entry, async () => {
            tell(`${scenario.name}: warming up ${entry.contender.name}`);
            entry.opened = await ready(driver(entry.contender, plan));
            await entry.opened.ready();
            await entry.opened.run(plan.warmUpMs);
          });
        }
        if (sameBytes) checkBytes(entries);
        for (const { entry, round } of interleaved(entries, plan.rounds)) {
          tell(`${scenario.name}: round ${round} of ${plan.rounds}: ${entry.contender.name}`);
          await attempt(entry, async () => entry.samples.push(await sampleOf(entry.opened, plan.ms)));
        }
      } finally {
        await Promise.all(entries.map((entry) => entry.opened?.close()));
      }
      return rowsOf(entries);
    },
  };
}

/** A floor that writes other bytes than ours would be no floor. */
function checkBytes(entries) {
  const bytesOf = ({ opened, missing }) => missing ?? opened.known()?.pieces.join("#");
  const floor = entries.find((entry) => entry.contender.floor);
  for (const entry of entries.filter((each) => each.contender.ours && each.missing === undefined)) {
    if (floor && bytesOf(entry) !== bytesOf(floor)) entry.missing = "answers other bytes than the floor";
  }
}

async function sampleOf(opened, ms) {
  await opened.ready();
  const own = cpuMeter(opened.pids);
  const load = cpuMeter([process.pid]);
  const start = performance.now();
  const sample = await opened.run(ms);
  const seconds = (performance.now() - start) / 1000;
  const used = own();
  return {
    ...sample,
    loadBusy: load() / seconds,
    ...(used !== undefined && { busy: used / seconds, cpuMicros: (used * 1e6) / sample.answered }),
  };
}

function rowsOf(entries) {
  const floor = entries.find((entry) => entry.contender.floor);
  return entries.map((entry) => {
    const { contender, missing, samples } = entry;
    const row = rowOf(entry);
    if (missing !== undefined) return row;
    const of = (key) => samples.map((sample) => sample[key]);
    const other = contender.bare || contender.ours ? undefined : oursLike(entries, contender);
    return {
      ...row,
      perSecond: median(of("perSecond")),
      spread: spread(of("perSecond")),
      ...Object.fromEntries(
        ["p50", "p99", "cpuMicros", "busy", "loadBusy"].map((key) => [key, median(of(key))]),
      ),
      ofFloor: floor === entry ? undefined : ratio(entry, floor, "perSecond"),
      cpuOfFloor: floor === entry ? undefined : ratio(floor, entry, "cpuMicros"),
      oursOver: ratio(other, entry, "perSecond"),
      samples,
    };
  });
}

function oursLike(entries, contender) {
  const era = isModern(contender.revision);
  return entries.find((entry) => entry.contender.ours && isModern(entry.contender.revision) === era);
}

function ratio(entry, other, key) {
  if (entry?.missing !== undefined || other?.missing !== undefined || !entry || !other) return undefined;
  return medianRatio(
    entry.samples.map((sample) => sample[key]),
    other.samples.map((sample) => sample[key]),
  );
}

/** Whether the numbers are the contenders' own. */
function notes(rows) {
  const held = rows.filter((row) => row.busy < BUSY_ENOUGH);
  if (held.length === 0) return [];
  return [
    `${held.length} of ${rows.length} had their core for less than ${percent(BUSY_ENOUGH)} of the time: the machine did ` +
      "other work, or the load was the limit. Their calls/s is too low; CPU µs/call tells more.",
  ];
}

/**
 * How many times as fast one contender is as another: by calls/s, or by CPU time where one of them was held up by
 * something else, and does not wait for that by its nature.
 *
 * @returns {{ value: number, by: string } | undefined}
 */
export function speedRatio(row, other, waits = false) {
  if (!row?.samples || !other?.samples) return undefined;
  const of = (each, key) => each.samples.map((sample) => sample[key]);
  if (!waits && (row.busy < BUSY_ENOUGH || other.busy < BUSY_ENOUGH)) {
    return { value: medianRatio(of(other, "cpuMicros"), of(row, "cpuMicros")), by: "CPU time" };
  }
  return { value: medianRatio(of(row, "perSecond"), of(other, "perSecond")), by: "calls/s" };
}
