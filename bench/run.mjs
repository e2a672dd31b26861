/** `npm run bench`: us and our peers, side by side in one run. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine, pinLoad } from "./machine.mjs";
import { writeReadme } from "./report/readme.mjs";
import { resultsFile } from "./report/results.mjs";
import { plainTable } from "./report/table.mjs";
import { scenarios } from "./scenarios.mjs";
import { peerVersions, SetupError, setUp } from "./setup.mjs";
import { smoke } from "./smoke.mjs";
import { judge } from "./targets.mjs";

const USAGE = `usage: npm run bench -- [options]

  --quick            a short run: 3 rounds of 0.4 s
  --smoke            only whether each contender can be opened and answers; exits with 1 if one does not
  --rounds <n>       how many rounds (default 5)
  --only <names>     these scenarios, and contenders whose name begins so: --only echo-stdio,bare,patchbay
  --json             print the results as JSON
  --profile          write each server's CPU profile to bench/profiles/
  --help

A whole run takes about ten minutes and writes bench/RESULTS.md and the table in README.md; a quick one, or of some,
only prints.
Scenarios: ${scenarios.map((scenario) => scenario.name).join(", ")}
`;

/**
 * @typedef {object} Plan
 * @property {number} rounds
 * @property {number} ms of load in each round
 * @property {number} warmUpMs
 * @property {number} concurrency calls that are open at a time
 * @property {number} starts
 * @property {number} sessions that memory is counted with
 * @property {number} scale of large messages
 * @property {string[]} nodeOptions of what is measured
 */
const PLANS = {
  full: { rounds: 5, ms: 1_400, warmUpMs: 1_600, concurrency: 64, starts: 21, sessions: 5_000, scale: 1 },
  quick: { rounds: 3, ms: 400, warmUpMs: 600, concurrency: 64, starts: 9, sessions: 1_000, scale: 1 },
  smoke: { rounds: 1, ms: 20, warmUpMs: 1, concurrency: 2, starts: 1, sessions: 20, scale: 0.01 },
};

function fail(message) {
  console.error(`${message}\n\n${USAGE}`);
  process.exit(2);
}

function readOptions() {
  const options = {
    quick: { type: "boolean", default: false },
    smoke: { type: "boolean", default: false },
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

function planOf({ quick, smoke, rounds, profile }) {
  const plan = PLANS[smoke ? "smoke" : quick ? "quick" : "full"];
  const profiles = join(import.meta.dirname, "profiles");
  const chosenRounds = rounds === undefined ? plan.rounds : Number(rounds);
  if (!Number.isInteger(chosenRounds) || chosenRounds < 1) fail(`--rounds ${rounds}: not a number of rounds`);
  return {
    ...plan,
    rounds: chosenRounds,
    nodeOptions: profile ? ["--cpu-prof", `--cpu-prof-dir=${profiles}`] : [],
  };
}

function tell(progress) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${progress}`);
  else console.error(progress);
}

async function run(scenario, plan) {
  const { name, title, measured } = scenario;
  const rows = await measured.measure(scenario, plan, tell);
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  const notes = measured.notes?.(rows) ?? [];
  return { name, title, columns: measured.columns, rows, notes, verdicts: judge(scenario, rows) };
}

const options = readOptions();
if (options.help) {
  console.log(USAGE);
  process.exit(0);
}
const plan = planOf(options);
const wanted = chosen(options.only);
try {
  await setUp(tell);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`\n${error.message}`);
  process.exit(1);
}
if (options.smoke) process.exit(await smoke(wanted, plan, tell));
const machine = describeMachine();
pinLoad();
tell(`${machine.pinning}; load average ${machine.loadAverage}\n`);

const results = [];
for (const scenario of wanted) {
  const result = await run(scenario, plan);
  results.push(result);
  if (!options.json) console.log(plainTable(result));
}

const date = new Date().toISOString().slice(0, 10);
const report = { date, machine, plan, versions: peerVersions(), results };
if (options.json) console.log(JSON.stringify(report, null, 2));
if (!options.quick && options.only === undefined && !options.profile) {
  writeFileSync(join(import.meta.dirname, "RESULTS.md"), resultsFile(report));
  writeReadme(join(import.meta.dirname, "..", "README.md"), report);
  console.error("written: bench/RESULTS.md, README.md");
}
process.exit(0);
