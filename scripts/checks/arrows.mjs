/** Checks that imports go down only: between packages as the design says, and inside a package without a cycle. */

import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { codeOf, isCode, readModule } from "./sources.mjs";

/** What each package may import. A new package gets its place here. */
const BELOW = {
  core: [],
  server: ["core"],
  client: ["core"],
  redis: ["core", "server"],
  servers: ["core", "server"],
  host: ["core", "client"],
  cli: ["core", "server", "client", "redis", "servers", "host"],
};

/** Gives the violations, each as `file:line: what; what to do`. */
export function checkArrows(sources) {
  const problems = [];
  const packages = packagesIn(sources);
  for (const { folder, name, manifest, file } of packages.values()) {
    if (BELOW[folder] === undefined) {
      problems.push(`${file}:1: no layer is known for this package; name it in scripts/checks/arrows.mjs`);
    }
    for (const dependency of Object.keys(manifest.dependencies ?? {})) {
      const target = packages.get(dependency);
      if (target !== undefined && !mayImport(folder, target.folder)) {
        problems.push(`${file}:1: ${name} depends on ${dependency}; ${down(folder)}`);
      }
    }
  }

  /** file → the files of its package that it imports */
  const graph = new Map();
  for (const [file, text] of codeOf(sources)) {
    const tell = (line, what) => problems.push(`${file}:${line}: ${what}`);
    const place = placeOf(file);
    const own = place && [...packages.values()].find(({ folder }) => folder === place.folder);
    const edges = [];
    graph.set(file, edges);
    for (const { from, line, typeOnly, lazy } of readModule(file, text).imports) {
      if (from.startsWith(".")) {
        const target = posix.normalize(posix.join(posix.dirname(file), from));
        const targetPlace = placeOf(target);
        // What tests stand on may stand under the tests of the packages above, and under those of all.
        const underTests =
          targetPlace?.part === "test" &&
          (place === undefined
            ? file.includes("/test/")
            : place.part === "test" && mayImport(place.folder, targetPlace.folder));
        if (targetPlace !== undefined && targetPlace.folder !== place?.folder && !underTests) {
          tell(
            line,
            `"${from}" reaches into packages/${targetPlace.folder}; import that package by its name`,
          );
        } else if (place?.part === "src" && targetPlace?.part !== "src" && isCode(target)) {
          tell(line, `"${from}" leaves src; move what it needs into src`);
        }
        // Type imports are erased: they order no module before another, so they make no cycle.
        if (!typeOnly && !lazy) edges.push(target);
        continue;
      }
      if (place?.folder === "core" && place.part === "src" && isBuiltin(from)) {
        tell(line, `core imports "${from}", but runs without Node; do this in server or client`);
        continue;
      }
      const target = [...packages.values()].find(({ name }) => from === name || from.startsWith(`${name}/`));
      if (target === undefined) continue;
      const subpath = `.${from.slice(target.name.length)}`;
      if (target.manifest.exports?.[subpath] === undefined) {
        tell(line, `"${from}" is not part of ${target.name}'s public API; see "exports" in ${target.file}`);
      }
      // A test may play the other side: the client's tests talk to a real server.
      if (place?.part === "src" && own !== undefined && !mayImport(place.folder, target.folder)) {
        tell(line, `${own.name} imports ${target.name}; ${down(place.folder)}`);
      }
    }
  }
  for (const cycle of findCycles(graph)) {
    problems.push(
      `${cycle[0]}:1: imports itself by way of ${[...cycle.slice(1), cycle[0]].join(" → ")}; move what both need below them`,
    );
  }
  return problems;
}

function packagesIn(sources) {
  const packages = new Map();
  for (const [file, text] of sources) {
    const folder = /^packages\/([^/]+)\/package\.json$/.exec(file)?.[1];
    if (folder === undefined) continue;
    const manifest = JSON.parse(text);
    packages.set(manifest.name, { folder, name: manifest.name, manifest, file });
  }
  return packages;
}

/** Which package a file is in, and in which part of it: `src`, `test`, … */
function placeOf(file) {
  const [, folder, part] = /^packages\/([^/]+)\/([^/]+)/.exec(file) ?? [];
  return folder === undefined ? undefined : { folder, part };
}

function mayImport(from, to) {
  return from === to || (BELOW[from] ?? []).includes(to);
}

function down(folder) {
  const below = BELOW[folder] ?? [];
  return below.length === 0
    ? `${folder} imports no other package`
    : `${folder} may import ${below.join(", ")}`;
}

/** One cycle for each group of files that reach one another. */
function findCycles(graph) {
  const cycles = [];
  const state = new Map();
  const path = [];
  const visit = (file) => {
    state.set(file, "open");
    path.push(file);
    for (const next of graph.get(file) ?? []) {
      if (state.get(next) === "open") cycles.push(path.slice(path.indexOf(next)));
      else if (state.get(next) === undefined && graph.has(next)) visit(next);
    }
    path.pop();
    state.set(file, "done");
  };
  for (const file of graph.keys()) if (!state.has(file)) visit(file);
  return cycles;
}
