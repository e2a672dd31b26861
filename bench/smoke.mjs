/** `--smoke`: whether each contender of each scenario can be opened and answers. What that takes does not matter. */

import { pinNothing } from "./machine.mjs";

const AT_A_TIME = 3;

/** Prints a line for each contender, and how many can be measured. @returns the exit code */
export async function smoke(scenarios, plan, tell) {
  pinNothing();
  const waiting = [...scenarios];
  let passed = 0;
  let failed = 0;
  async function oneAfterAnother() {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
      for (const { name, missing } of await scenario.measured.measure(scenario, plan, tell)) {
        const contender = scenario.contenders.find((each) => each.name === name);
        const excused = (contender.cannot ?? contender.lacks?.()) !== undefined;
        if (missing === undefined) passed++;
        else if (!excused) failed++;
        const how = missing === undefined ? "ok  " : excused ? "skip" : "FAIL";
        console.log(`${how} ${scenario.name}: ${name}${missing === undefined ? "" : `: ${missing}`}`);
      }
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, oneAfterAnother));
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}
