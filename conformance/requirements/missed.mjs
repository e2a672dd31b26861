/** Compares the list with the specification: `node conformance/requirements/missed.mjs <its docs/specification>`. */

import { join } from "node:path";
import { REVISIONS, readRequirements, readSentences } from "./list.mjs";
import { sentencesIn } from "./sentences.mjs";

const folder = process.argv[2];
if (folder === undefined) {
  console.error("Usage: node conformance/requirements/missed.mjs <docs/specification of the MCP repository>");
  process.exit(2);
}

const listed = readSentences();
const found = new Set();
const spokenIn = new Map();
let wrong = 0;

function complain(what) {
  console.log(what);
  wrong++;
}

for (const revision of REVISIONS) {
  const sentences = sentencesIn(join(folder, revision));
  console.log(`${revision}: ${sentences.length} sentences`);
  for (const { page, section, text, hash } of sentences) {
    found.add(hash);
    const ids = listed.get(hash);
    if (ids === undefined) complain(`missed: ${hash} ${page} § ${section}: ${text}`);
    for (const id of ids ?? []) spokenIn.set(id, (spokenIn.get(id) ?? new Set()).add(revision));
  }
}
for (const [hash, ids] of listed) {
  if (!found.has(hash)) complain(`not in the specification: ${hash} (${ids.join(", ")})`);
}
for (const { id, revisions } of readRequirements()) {
  const spoken = [...(spokenIn.get(id) ?? [])].sort();
  if (spoken.join() !== revisions.join()) complain(`${id}: its revisions are ${spoken.join(", ")}`);
}
console.log(wrong === 0 ? "Nothing is missed." : `${wrong} wrong`);
process.exitCode = wrong === 0 ? 0 : 1;
