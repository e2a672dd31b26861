/** What is to be reached, and whether it was. */

import { speedRatio } from "./measures/throughput.mjs";
import { median } from "./medians.mjs";

/**
 * @typedef {object} Target
 * @property {string} what
 * @property {number} bound
 * @property {boolean} most whether the bound is the most that it may be, not the least
 * @property {(value: number) => string} show
 * @property {(row: (name: string) => any) => { value: number, by?: string } | undefined} of
 */

/** @typedef {{ what: string, target: string, measured?: string, by?: string, reached?: boolean }} Verdict */

const times = (value) => `${value.toFixed(value < 9.95 ? 2 : 1)}×`;

/**
 * A contender answers so many times as many calls as another.
 *
 * @param {{ waits?: boolean }} [about] whether it waits for something else by its nature: then calls/s count, busy or not
 * @returns {Target}
 */
export function timesAsFast(bound, name, other, what, { waits = false } = {}) {
  const of = (row) => speedRatio(row(name), row(other), waits);
  return { what, bound, most: false, show: times, of };
}

/** A number of a row may be so much. @returns {Target} */
export function atMost(bound, name, key, what, show) {
  return { what, bound, most: true, show, of: numberOf(name, key) };
}

/** A number of a row has to be so much. @returns {Target} */
export function atLeast(bound, name, key, what, show) {
  return { what, bound, most: false, show, of: numberOf(name, key) };
}

/** A call of a contender takes so many microseconds of CPU more than one of another. @returns {Target} */
export function microsAbove(bound, name, other, what) {
  const of = (row) => {
    const above = difference(row(name)?.samples, row(other)?.samples);
    return above === undefined ? undefined : { value: above, by: "CPU time" };
  };
  return { what, bound, most: true, show: (value) => `${value.toFixed(1)} µs`, of };
}

/** By rounds, for what a machine does else in one it does to both. */
function difference(samples, others) {
  if (!samples || !others) return undefined;
  return median(samples.map(({ cpuMicros }, round) => cpuMicros - others[round]?.cpuMicros));
}

function numberOf(name, key) {
  return (row) => (row(name)?.[key] === undefined ? undefined : { value: row(name)[key] });
}

/** @returns {Verdict[]} those of a scenario whose contenders were all measured, and of others that they were not */
export function judge({ targets = [] }, rows) {
  const rowNamed = (name) => rows.find((row) => row.name === name && row.missing === undefined);
  return targets.map(({ what, bound, most, show, of }) => {
    const target = `${most ? "≤" : "≥"} ${show(bound)}`;
    const found = of(rowNamed);
    if (found === undefined || Number.isNaN(found.value)) return { what, target };
    const reached = most ? found.value <= bound : found.value >= bound;
    return { what, target, measured: show(found.value), value: found.value, by: found.by, reached };
  });
}
