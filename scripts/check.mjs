/** `npm run check`: style, types, unused code, arrows, names. One line for each check; changes nothing. */

import { ROOT } from "./run.mjs";
import { Tally } from "./tally.mjs";

const MAX_TOLD = 40;
const tally = new Tally();

try {
  await import("oxc-parser");
} catch {
  console.error("The checks need the development dependencies: run `npm ci`, then `npm run check` again.");
  process.exit(1);
}
const { readSources } = await import("./checks/sources.mjs");
const { checkArrows } = await import("./checks/arrows.mjs");
const { checkBuildTypes } = await import("./checks/build-types.mjs");
const { checkLength, checkNames, checkOpening } = await import("./checks/tidiness.mjs");
const { checkStyle, checkTypes, checkUnused } = await import("./checks/tools.mjs");
const { checkPrivatePlaces } = await import("./checks/private-places.mjs");

const sources = readSources(ROOT);
const length = checkLength(sources);

report("types", checkTypes(ROOT, "-b"));
report("types of the tests", checkTypes(ROOT, "-p", "tsconfig.test.json"));
report("style (biome)", checkStyle(ROOT));
report("unused code (knip)", checkUnused(ROOT));
report("arrows go down", checkArrows(sources));
report("the build's types", checkBuildTypes(sources));
report("file length", length.problems, length.warnings);
report("first sentence of a file", checkOpening(sources));
report("names", checkNames(sources));
report("no private places", checkPrivatePlaces(ROOT, sources));
process.exit(tally.close());

/** Says how a check went: one line, then what was found. */
function report(name, problems, warnings = []) {
  const fine = problems.length === 0;
  const count = fine ? "" : ` (${problems.length})`;
  console.log(`${fine ? "ok  " : "FAIL"} ${name}${count}`);
  for (const problem of problems.slice(0, MAX_TOLD)) console.log(`       ${problem}`);
  if (problems.length > MAX_TOLD) console.log(`       … and ${problems.length - MAX_TOLD} more`);
  for (const warning of warnings) console.log(`  note ${warning}`);
  tally.step(fine, name);
}
