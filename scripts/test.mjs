/**
 * `npm test [-- words… | vitest's options…] [-- --node24]`: installs what is missing, builds, checks the tests'
 * types, runs every test (or the files whose path holds one of the words); on Node 24 those of the packages and examples.
 * Plain Node, no dependency.
 */

import "./node-version.mjs";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { install } from "./install.mjs";
import { leftovers, markOf } from "./leftovers.mjs";
import { node24 } from "./node24.mjs";
import { installPrograms } from "./programs.mjs";
import { ROOT, runNode } from "./run.mjs";
import { Tally } from "./tally.mjs";

const onNode24 = process.argv.includes("--node24");
const words = process.argv.slice(2).filter((word) => word !== "--node24");
const inCI = Boolean(process.env.CI);
/**
 * What is about documents, balancers, terminals and other programs is the same on any Node: on 24 it runs where it is asked
 * for. Of the command, what starts it in each way is enough.
 */
const SAME_ON_ANY_NODE = [
  ...["docs", "deploy", "soak", "scripts", "conformance"].map((folder) => `${folder}/test/**`),
  "packages/cli/test/!(commands|serve|start).test.ts",
];
const tally = new Tally();
let testsRun = 0;
const mark = markOf(process.pid);

await test();
if (testsRun === 0) tally.fail(words.length > 0 ? `no test matches: ${words.join(" ")}` : "no test was run");
process.exit(tally.close());

async function test() {
  tally.begin("Install");
  if (!(await install(ROOT))) return tally.fail("install: npm's message above says why");
  await installPrograms();

  let node = process.execPath;
  if (onNode24) {
    node = await node24();
    if (node === undefined)
      return tally.fail("Node 24: npm's message above says why it could not be fetched");
  }

  tally.begin("Build");
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  tally.step((await runNode(join(ROOT, "scripts", "build.mjs"), [])) === 0, "build: its messages are above");

  // Types are the same on any Node.
  if (!onNode24) {
    tally.begin("Types of the tests");
    tally.step((await runNode(tsc, ["-p", "tsconfig.test.json"])) === 0, "types of the tests: see above");
  }

  tally.begin(`Tests, on Node ${onNode24 ? 24 : process.versions.node}`);
  await runVitest("packages", node);

  if (interopIsAsked()) await interop(tsc, node);

  for (const left of leftovers(mark)) tally.fail(`a process was left behind: ${left}`);
}

/** Asked for by all words that may mean it, and by none: its peers take a while to install. */
function interopIsAsked() {
  const folder = join(ROOT, "interop");
  if (!existsSync(join(folder, "package.json"))) return false;
  // After an option a word may be the option's value.
  if (words.length === 0) return !onNode24;
  if (words.some((word) => word.startsWith("-"))) return true;
  const tests = readdirSync(join(folder, "test")).map((name) => `interop/test/${name}`);
  return words.some((word) => tests.some((test) => test.includes(word)));
}

/** The tests against the official SDKs and servers, which are installed apart from the workspace. */
async function interop(tsc, node) {
  tally.begin("Interop");
  if (!(await install(join(ROOT, "interop")))) {
    const missing = "interop: its packages could not be installed; try `npm ci` in interop/";
    if (inCI) tally.fail(missing);
    else tally.skipped.push(missing);
    return;
  }
  if (!onNode24) {
    tally.step((await runNode(tsc, ["-p", "interop"])) === 0, "types of interop: see above");
  }
  await runVitest("interop", node);
}

async function runVitest(project, node) {
  const report = join(ROOT, "node_modules", ".cache", `vitest-${project}.json`);
  rmSync(report, { force: true });
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const leftOut =
    onNode24 && words.length === 0 ? SAME_ON_ANY_NODE.flatMap((pattern) => ["--exclude", pattern]) : [];
  const args = ["run", "--project", project, "--passWithNoTests", ...leftOut, ...reporters, ...words];
  const code = await runNode(vitest, args, { node, env: { ...process.env, ...mark } });
  const before = tally.failed;
  if (existsSync(report)) count(JSON.parse(readFileSync(report, "utf8")));
  // An error outside of a test, or a crash.
  if (code !== 0 && tally.failed === before) tally.fail(`${project}: vitest ended with ${code}, see above`);
}

function count({ testResults }) {
  for (const { name, status, assertionResults } of testResults) {
    const file = relative(ROOT, name);
    let failedHere = 0;
    for (const { status, fullName } of assertionResults) {
      if (status === "passed" || status === "failed") testsRun++;
      if (status === "passed") tally.passed++;
      else if (status === "failed") {
        failedHere++;
        tally.fail(`${file}: ${fullName}`);
      } else tally.skipped.push(`${file}: ${fullName}`);
    }
    if (status === "failed" && failedHere === 0) tally.fail(`${file}: could not be run, see above`);
  }
}
