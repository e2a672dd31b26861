/** Runs a scenario: opens its contenders, warms them up, measures them in interleaved rounds, and takes medians. */

import { ContenderError } from "./closed-loop.mjs";
import { cpuSeconds } from "./machine.mjs";
import { isModern } from "./messages.mjs";

const OPEN_MS = 15_000;

/**
 * @typedef {object} Row
 * @property {string} name
 * @property {string} title
 * @property {string} [revision]
 * @property {boolean} ours
 * @property {string} [missing] why there are no numbers
 * @property {number} [perSecond] median over the rounds, as everything here
 * @property {number} [spread] half of the range of perSecond, as a share of it
 * @property {number} [cpuMicros] CPU time of the server for one call
 * @property {number} [serverBusy] share of the time that the server's process was on its core
 * @property {number} [loadBusy] the same for the load
 * @property {number} [p50] milliseconds
 * @property {number} [p99] milliseconds
 * @property {number} [ofBare] perSecond as a share of the floor's in the same round
 * @property {number} [oursOver] how many times ours of the same era is as fast
 */

/**
 * @param {import("./scenarios.mjs").Scenario} scenario
 * @param {{ rounds: number, ms: number, warmUpMs: number, nodeOptions: string[] }} plan
 * @param {(progress: string) => void} tell
 * @returns {Promise<Row[]>}
 */
export async function measure(scenario, plan, tell) {
  const entries = scenario.contenders.map((contender) => ({
    contender,
    samples: [],
    missing: contender.cannot,
  }));
  try {
    for (const entry of entries) await attempt(entry, () => openAndWarmUp(scenario, entry, plan, tell));
    for (let round = 1; round <= plan.rounds; round++) {
      for (const entry of entries) {
        if (entry.missing) continue;
        tell(`${scenario.name}: round ${round} of ${plan.rounds}: ${entry.contender.name}`);
        await attempt(entry, async () => entry.samples.push(await sampleOf(entry.opened, plan.ms)));
      }
    }
  } finally {
    await Promise.all(entries.map((entry) => entry.opened?.close()));
  }
  return rowsOf(entries);
}

async function openAndWarmUp(scenario, entry, plan, tell) {
  tell(`${scenario.name}: warming up ${entry.contender.name}`);
  entry.opened = await within(OPEN_MS, scenario.driver(entry.contender, plan.nodeOptions));
  await entry.opened.ready();
  await entry.opened.run(plan.warmUpMs);
}

/** What goes wrong with one contender becomes its row; the others go on. */
async function attempt(entry, action) {
  if (entry.missing) return;
  try {
    await action();
  } catch (error) {
    entry.missing = error instanceof ContenderError ? error.message : String(error?.stack ?? error);
  }
}

async function within(ms, promise) {
  let timer;
  const tooLate = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new ContenderError(`not ready within ${ms / 1000} s`)), ms);
  });
  return Promise.race([promise, tooLate]).finally(() => clearTimeout(timer));
}

async function sampleOf(opened, ms) {
  await opened.ready();
  const before = { at: performance.now(), load: process.cpuUsage(), server: cpuSeconds(opened.pid) };
  const sample = await opened.run(ms);
  const seconds = (performance.now() - before.at) / 1000;
  const load = process.cpuUsage(before.load);
  const loadBusy = (load.user + load.system) / 1e6 / seconds;
  if (before.server === undefined) return { ...sample, loadBusy };
  const used = cpuSeconds(opened.pid) - before.server;
  return { ...sample, loadBusy, serverBusy: used / seconds, cpuMicros: (used * 1e6) / sample.answered };
}

function rowsOf(entries) {
  const floor = entries.find((entry) => entry.contender.floor);
  return entries.map((entry) => {
    const { contender, missing, samples } = entry;
    const row = {
      name: contender.name,
      title: contender.title,
      revision: contender.floor ? undefined : contender.revision,
      ours: Boolean(contender.ours),
    };
    if (missing) return { ...row, missing };
    const speeds = samples.map((sample) => sample.perSecond);
    const perSecond = median(speeds);
    return {
      ...row,
      perSecond,
      spread: (Math.max(...speeds) - Math.min(...speeds)) / 2 / perSecond,
      ...Object.fromEntries(
        ["p50", "p99", "cpuMicros", "serverBusy", "loadBusy"].map((key) => [
          key,
          median(samples.map((s) => s[key])),
        ]),
      ),
      ofBare: floor === entry ? undefined : ratio(entry, floor),
      oursOver: contender.floor || contender.ours ? undefined : ratio(oursLike(entries, contender), entry),
    };
  });
}

function oursLike(entries, contender) {
  const era = isModern(contender.revision);
  return entries.find((entry) => entry.contender.ours && isModern(entry.contender.revision) === era);
}

/** The median of the ratios round by round: what slows the machine for a while slows both. */
function ratio(entry, other) {
  if (!entry || !other || entry.missing || other.missing) return undefined;
  return median(entry.samples.map((sample, round) => sample.perSecond / other.samples[round].perSecond));
}

function median(numbers) {
  const sorted = numbers.filter((n) => n !== undefined).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2
    ? sorted[middle]
    : sorted.length
      ? (sorted[middle - 1] + sorted[middle]) / 2
      : undefined;
}
