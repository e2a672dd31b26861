/** Runs the tools of others (compiler, Biome, knip) and tells what they found as `file:line: what`. */

import { spawnSync } from "node:child_process";
import { join, relative } from "node:path";

export function checkTypes(root, ...args) {
  const { status, said } = runTool(root, "typescript/bin/tsc", args);
  if (status === 0) return [];
  return [...new Set(linesOf(said).map((line) => line.replace(/^(\S+?)\((\d+),\d+\)/, "$1:$2")))];
}

export function checkStyle(root) {
  const args = [
    "check",
    "--error-on-warnings",
    "--max-diagnostics=none",
    "--reporter=github",
    "--colors=off",
  ];
  const { status, said } = runTool(root, "@biomejs/biome/bin/biome", args);
  if (status === 0) return [];
  const problems = [];
  for (const [, rule, file, line, what] of said.matchAll(
    /^::\w+ title=([^,]*),file=([^,]*),line=(\d+),[^:]*::(.*)$/gm,
  )) {
    const text = decodeURIComponent(what).split("\n")[0];
    const remedy = rule === "format" || rule.startsWith("assist") ? "; run npm run format" : "";
    problems.push(`${relative(root, file)}:${line}: ${text} (${rule})${remedy}`);
  }
  return problems.length > 0 ? problems : linesOf(said);
}

export function checkUnused(root) {
  const { status, said } = runTool(root, "knip/bin/knip.js", ["--no-progress", "--reporter=json"]);
  if (status === 0) return [];
  try {
    const { issues } = JSON.parse(said);
    return issues.flatMap(({ file, ...kinds }) =>
      Object.entries(kinds).flatMap(([kind, found]) =>
        (Array.isArray(found) ? found.flat() : []).map(({ name, line = 1 }) =>
          kind === "files"
            ? `${file}:1: nothing uses this file; use it or remove it`
            : `${file}:${line}: ${name} (${KINDS[kind] ?? kind})`,
        ),
      ),
    );
  } catch {
    return linesOf(said);
  }
}

const KINDS = {
  dependencies: "a dependency that nothing imports; remove it",
  devDependencies: "a development dependency that nothing uses; remove it",
  unlisted: "imported, but not in package.json; add it",
  unresolved: "an import that leads nowhere",
  exports: "exported, but nothing imports it; remove `export`, or the code",
  types: "a type that is exported, but nothing imports it; remove `export`, or the type",
  duplicates: "exported twice",
};

function runTool(root, file, args) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, "node_modules", file), ...args],
    {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  return { status, said: stdout.trim() === "" ? `${stderr}\n${file} ended with ${status}` : stdout };
}

function linesOf(text) {
  return text.split("\n").filter((line) => line.trim() !== "");
}
