/**
 * Two workers on two cores against one on one. The load needs a part of a core too: with one worker it has the other core
 * to itself, with two it takes its part from them, and that part is deducted from the two cores.
 */

import { medianRatio } from "../medians.mjs";
import { percent } from "../report/cells.mjs";
import { throughput } from "./throughput.mjs";

const CORES = 2;

/** @param {import("./throughput.mjs").Opened} driver */
export function workers(driver) {
  const { columns, measure } = throughput(driver);
  const shown = ["calls/s", "±", "p50 ms", "p99 ms", "CPU µs/call"];
  return {
    columns: [
      ...columns.filter(({ head }) => shown.includes(head)),
      { head: "cores, servers", cell: (row) => row.busy?.toFixed(2) },
      { head: "cores, load", cell: (row) => row.loadBusy.toFixed(2) },
      { head: "as it is", cell: (row) => row.scaling && `${row.scaling.toFixed(2)}×` },
      { head: "load deducted", cell: (row) => row.deducted && `${row.deducted.toFixed(2)}×` },
    ],
    notes: ([one, two]) =>
      two?.deducted === undefined
        ? []
        : [
            `Load deducted: the two workers had ${percent((CORES - two.loadBusy) / CORES)} of the two cores, as the load ` +
              "took the rest; their calls/s is divided by that share. Cores that nobody used count against them.",
            `By CPU time alone a call costs ${one.cpuMicros.toFixed(0)} µs with one worker and ${two.cpuMicros.toFixed(0)} µs ` +
              "with two, their first process included.",
          ],
    async measure(scenario, plan, tell) {
      const [one, two] = await measure(scenario, plan, tell);
      if (two === undefined || one.missing !== undefined || two.missing !== undefined)
        return two ? [one, two] : [one];
      const of = (row, value) => row.samples.map(value);
      const oneCore = of(one, ({ perSecond }) => perSecond);
      const scaling = medianRatio(
        of(two, ({ perSecond }) => perSecond),
        oneCore,
      );
      const share = ({ loadBusy }) => (CORES - loadBusy) / CORES;
      const deducted = medianRatio(
        of(two, (sample) => sample.perSecond / share(sample)),
        oneCore,
      );
      return [one, { ...two, scaling, deducted }];
    },
  };
}
