/** `node bench/profile.mjs <file.cpuprofile> [lines]`: where the time of a server went, by function and by package. */

import { readFileSync } from "node:fs";

const [file, lines = "40"] = process.argv.slice(2);
const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, "utf8"));
const byId = new Map(nodes.map((node) => [node.id, node]));

const ofFunction = new Map();
const ofPart = new Map();
let total = 0;
samples.forEach((id, i) => {
  const { functionName, url, lineNumber } = byId.get(id).callFrame;
  if (functionName === "(idle)" || functionName === "(program)") return; // not ours, or the kernel's
  const place = shorten(url);
  const micros = timeDeltas[i];
  total += micros;
  const name = `${functionName || "(anonymous)"} ${place}${url ? `:${lineNumber + 1}` : ""}`;
  ofFunction.set(name, (ofFunction.get(name) ?? 0) + micros);
  const part = functionName === "(garbage collector)" ? "garbage collector" : partOf(place);
  ofPart.set(part, (ofPart.get(part) ?? 0) + micros);
});

function shorten(url) {
  return url.replace(/^file:\/\//, "").replace(/^.*\/(packages|node_modules|servers)\//, "$1/");
}

function partOf(place) {
  if (place.startsWith("node:")) return "node";
  const [root, scope, name] = place.split("/");
  if (root === "node_modules") return scope.startsWith("@") ? `${scope}/${name}` : scope;
  return root === "packages" ? `@patchbay/${scope}` : root || "native";
}

function print(title, map, limit) {
  console.log(`${title}\n`);
  for (const [name, micros] of [...map].sort((a, b) => b[1] - a[1]).slice(0, limit)) {
    console.log(`${((100 * micros) / total).toFixed(1).padStart(5)} %  ${name}`);
  }
  console.log();
}

print("by package", ofPart, 12);
print("by function, itself", ofFunction, Number(lines));
