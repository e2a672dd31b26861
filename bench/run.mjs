/** `npm run bench`: us and our peers, side by side in one run. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine, pinLoad } from "./machine.mjs";
import { measure } from "./measure.mjs";
import { markdownReport, plainTable } from "./report.mjs";
import { scenarios } from "./scenarios.mjs";
import { peerVersions, SetupError, setUp } from "./setup.mjs";

const USAGE = `usage: npm run bench -- [options]

  --quick            a short run: 3 rounds of 0.4 s
  --rounds <n>       how many rounds (default 5)
  --only <names>     these scenarios, and contenders whose name begins so: --only echo-stdio,bare,patchbay
  --json             print the results as JSON
  --profile          write each server's CPU profile to bench/profiles/
  --help

A whole run takes about four minutes and writes bench/RESULTS.md; a quick one, or of some, only prints.
Scenarios: ${scenarios.map((scenario) => scenario.name).join(", ")}
`;

function fail(message) {
  console.error(`${message}\n\n${USAGE}`);
  process.exit(2);
}

function readOptions() {
  const options = {
    quick: { type: "boolean", default: false },
    rounds: { type: "string" },
    only: { type: "string" },
    json: { type: "boolean", default: false },
    profile: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return fail(error.message);
  }
}

/** What `--only` leaves: the scenarios that it names, or all; of each the contenders that it names, or all. */
function chosen(only) {
  const names = only?.split(",").map((name) => name.trim()) ?? [];
  const isScenario = (name) => scenarios.some((scenario) => scenario.name === name);
  const isContender = (name) =>
    scenarios.some(({ contenders }) => contenders.some((c) => c.name.startsWith(name)));
  const unknown = names.find((name) => !isScenario(name) && !isContender(name));
  if (unknown !== undefined) fail(`--only ${unknown}: no scenario and no contender has this name`);

  const scenarioNames = names.filter(isScenario);
  const contenderNames = names.filter((name) => !isScenario(name));
  return scenarios
    .filter(({ name }) => scenarioNames.length === 0 || scenarioNames.includes(name))
    .map((scenario) => ({
      ...scenario,
      contenders: scenario.contenders.filter(
        (contender) =>
          contenderNames.length === 0 || contenderNames.some((name) => contender.name.startsWith(name)),
      ),
    }))
    .filter(({ contenders }) => contenders.length > 0);
}

const options = readOptions();
if (options.help) {
  console.log(USAGE);
  process.exit(0);
}
const plan = {
  rounds: Number(options.rounds ?? (options.quick ? 3 : 5)),
  ms: options.quick ? 400 : 1_700,
  warmUpMs: options.quick ? 600 : 2_000,
  nodeOptions: options.profile
    ? ["--cpu-prof", `--cpu-prof-dir=${join(import.meta.dirname, "profiles")}`]
    : [],
};
if (!Number.isInteger(plan.rounds) || plan.rounds < 1)
  fail(`--rounds ${options.rounds}: not a number of rounds`);

const wanted = chosen(options.only);
const tell = (progress) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${progress}`);
  else console.error(progress);
};

try {
  setUp(tell);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`\n${error.message}`);
  process.exit(1);
}
const machine = describeMachine();
pinLoad();
tell(`${machine.pinning}; load average ${machine.loadAverage}\n`);

const results = [];
for (const scenario of wanted) {
  const rows = await measure(scenario, plan, tell);
  results.push({ name: scenario.name, title: scenario.title, rows });
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  if (!options.json) console.log(plainTable(results.at(-1)));
}

const date = new Date().toISOString().slice(0, 10);
const report = { date, machine, plan, versions: peerVersions(), results };
if (options.json) console.log(JSON.stringify(report, null, 2));
if (!options.quick && options.only === undefined && !options.profile) {
  writeFileSync(join(import.meta.dirname, "RESULTS.md"), markdownReport(report));
  console.error("written: bench/RESULTS.md");
}
process.exit(0);
