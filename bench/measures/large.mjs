/**
 * Large messages: how long one takes at several sizes, which should grow with the size and no faster, and how often the
 * server holds the largest at once: its peak of resident memory above what it held before, in a process that is new.
 */

import { attempt, entriesOf, interleaved, rowOf } from "../contenders.mjs";
import { openForLarge } from "../drivers/large.mjs";
import { residentPeak } from "../machine.mjs";
import { median } from "../medians.mjs";
import { milliseconds } from "../report/cells.mjs";

const MIB = 1024 * 1024;
const SIZES = [1, 2.5, 5, 10];
const LARGEST = SIZES.at(-1);
const SMALL_BYTES = 10_000;
const SMALL_CALLS = 200;

/** @type {import("../scenarios.mjs").Measured} */
export const large = {
  columns: [
    ...SIZES.map((size) => ({ head: `${size} MiB`, cell: (row) => milliseconds(row[size]) })),
    { head: "ms/MiB, 10 against 1", cell: (row) => `${row.growth.toFixed(2)}×` },
    { head: "copies of 10 MiB", cell: (row) => row.copies?.toFixed(1) },
  ],
  notes: () => [
    "Copies: the peak of resident memory in one call of 10 MiB, above what was resident before and above the text itself, " +
      "by 10 MiB.",
  ],
  async measure(scenario, plan, tell) {
    const entries = entriesOf(scenario.contenders);
    for (const { entry, round } of interleaved(entries, plan.rounds)) {
      tell(`${scenario.name}: round ${round} of ${plan.rounds}: ${entry.contender.name}`);
      await attempt(entry, async () => entry.samples.push(await sampleOf(entry.contender, plan.scale)));
    }
    return entries.map((entry) => {
      const row = rowOf(entry);
      if (row.missing !== undefined) return row;
      const of = (key) => median(entry.samples.map((sample) => sample[key]));
      const times = Object.fromEntries(SIZES.map((size) => [size, of(size)]));
      return { ...row, ...times, growth: times[LARGEST] / LARGEST / times[1], copies: of("copies") };
    });
  },
};

async function sampleOf(contender, scale) {
  const bytesOf = (size) => Math.round(size * MIB * scale);
  const opened = await openForLarge(contender);
  try {
    for (let i = 0; i < SMALL_CALLS; i++) await opened.call(SMALL_BYTES); // compiled, and with the pages it needs anyway
    const peak = residentPeak(opened.pid);
    await opened.call(bytesOf(LARGEST));
    const resident = peak();
    const sample = { copies: resident && resident / bytesOf(LARGEST) - 1 };
    for (const size of SIZES) {
      await opened.call(bytesOf(size));
      sample[size] = Math.min(await opened.call(bytesOf(size)), await opened.call(bytesOf(size)));
    }
    return sample;
  } finally {
    await opened.close();
  }
}
