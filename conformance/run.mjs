/** `npm run conformance [-- --only <words> --role server|client --json]`: the official suite against our server and our client. */

import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { install } from "../scripts/install.mjs";
import { leftovers, markOf } from "../scripts/leftovers.mjs";
import { node24 } from "../scripts/node24.mjs";
import { ROOT, runNode } from "../scripts/run.mjs";
import { Tally } from "../scripts/tally.mjs";
import { planOf } from "./plan.mjs";
import { verdictOf } from "./verdict.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const OLDEST_NODE = 22;
const SIDE_BY_SIDE = Math.min(4, availableParallelism());

const options = optionsOf(process.argv.slice(2));
/** Children's own output goes where ours may not be parsed. */
const stdout = options.json ? 2 : "inherit";
const tally = new Tally();
const mark = markOf(process.pid);
const results = [];

const { serveHttp, createEverything, Suite, node } = await prepare();
const suite = new Suite(node, mark);
for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
  process.once(signal, () => {
    suite.close();
    leftovers(mark);
    process.exit(code);
  });
}
const plan = planOf(suite.requirementSets(), await suite.listing()).filter(isAsked);
const say = options.json ? console.error : console.log;
const runs = sideBySide(plan, SIDE_BY_SIDE, runOne);
for (const [index, scenario] of plan.entries()) report(scenario, verdictOf(await runs[index]));
suite.close();
for (const left of leftovers(mark)) tally.fail(`a process was left behind: ${left}`);
process.exitCode = close();

function optionsOf(args) {
  try {
    const { values } = parseArgs({
      args,
      options: { json: { type: "boolean" }, only: { type: "string" }, role: { type: "string" } },
    });
    if (values.role !== undefined && !["server", "client"].includes(values.role)) {
      throw new Error(`--role is server or client, not "${values.role}"`);
    }
    return values;
  } catch (thrown) {
    console.error(`${thrown.message}\nnpm run conformance [-- --only <words> --role server|client --json]`);
    process.exit(2);
  }
}

/** Installs and builds what is missing; what needs that is loaded afterwards. */
async function prepare() {
  if (!(await install(ROOT, { stdout })) || !(await install(HERE, { stdout }))) {
    fail("The packages could not be installed; npm's message above says why.");
  }
  if ((await runNode(join(ROOT, "scripts", "build.mjs"), [], { stdout })) !== 0) {
    fail("The build failed; its messages are above.");
  }
  const [{ serveHttp }, { createEverything }, { Suite }] = await Promise.all([
    import("@patchbay/server/http"),
    import("@patchbay/servers/everything"),
    import("./suite.mjs"),
  ]);
  const isNewEnough = Number(process.versions.node.split(".")[0]) >= OLDEST_NODE;
  const node = isNewEnough ? process.execPath : await node24({ stdout });
  if (node === undefined) {
    fail(`The suite needs Node ${OLDEST_NODE}; npm's message above says why it could not be fetched.`);
  }
  return { serveHttp, createEverything, Suite, node };
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

function isAsked({ role, scenario }) {
  return (options.role ?? role) === role && scenario.includes(options.only ?? "");
}

/** Each server scenario has a server of its own, so that none sees what another has changed. */
async function runOne(scenario) {
  if (scenario.role === "client") {
    // The suite hands this to a shell: a path may hold spaces.
    return suite.run(scenario, ["--command", `"${process.execPath}" "${join(HERE, "client.mjs")}"`]);
  }
  const serving = await serveHttp(createEverything({ onError: () => {} }), { port: 0 });
  try {
    return await suite.run(scenario, ["--url", serving.url]);
  } finally {
    await serving.close(0);
  }
}

/** Starts work on all items, so many at a time and in their order; gives a promise for each. */
function sideBySide(items, atOnce, work) {
  const lanes = Array.from({ length: atOnce }, () => Promise.resolve());
  return items.map((item, index) => {
    const done = lanes[index % atOnce].then(() => work(item));
    lanes[index % atOnce] = done.catch(() => {});
    return done;
  });
}

function report({ role, scenario, revision }, { checks, problems }) {
  const fine = problems.length === 0;
  results.push({ role, revision, scenario, passed: fine, checks, problems });
  const name = `${role}  ${(revision ?? "-").padEnd(10)}  ${scenario}`;
  say(`${fine ? "ok  " : "FAIL"} ${name}${fine ? `  (${checks} checks)` : ""}`);
  for (const problem of problems) say(`       ${problem.replaceAll("\n", "\n         ")}`);
  tally.step(fine, name);
}

function close() {
  if (!options.json) return tally.close();
  const { passed, failed, failures } = tally;
  console.log(JSON.stringify({ passed, failed, failures, scenarios: results }, undefined, 2));
  return passed > 0 && failed === 0 ? 0 : 1;
}
