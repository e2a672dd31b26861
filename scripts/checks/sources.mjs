/** The files that the checks read: what git knows, or would take; and what a file imports and exports. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";

/** Paths from the root, with `/`: committed files, and new ones that are not ignored. */
export function listFiles(root) {
  const options = ["--cached", "--others", "--exclude-standard", "-z"];
  const listed = execFileSync("git", ["ls-files", ...options], { cwd: root, encoding: "utf8" });
  return [...new Set(listed.split("\0"))].filter((file) => file !== "" && isText(root, file)).sort();
}

/** True for a file that exists and is text: git tells what was removed, too. */
function isText(root, file) {
  try {
    return !readFileSync(join(root, file)).subarray(0, 8_000).includes(0);
  } catch {
    return false;
  }
}

export function isCode(file) {
  return /\.(ts|mts|js|mjs)$/.test(file);
}

/**
 * @returns {{ imports: { from: string, line: number, typeOnly: boolean }[],
 *   exports: { name: string, line: number }[] }}
 */
export function readModule(root, file) {
  const text = readFileSync(join(root, file), "utf8");
  const { module } = parseSync(file, text);
  const lineAt = (offset) => text.slice(0, offset).split("\n").length;
  const imports = [];
  const exports = [];
  const add = (from, offset, typeOnly) => imports.push({ from, line: lineAt(offset), typeOnly });
  for (const { moduleRequest, start, entries } of module.staticImports) {
    add(moduleRequest.value, start, entries.length > 0 && entries.every((entry) => entry.isType));
  }
  for (const { start, entries } of module.staticExports) {
    for (const { moduleRequest, exportName, isType } of entries) {
      if (moduleRequest) add(moduleRequest.value, start, isType);
      if (exportName.kind === "Name") exports.push({ name: exportName.name, line: lineAt(start) });
    }
  }
  for (const { moduleRequest } of module.dynamicImports) {
    const literal = /^(["'`])(.*)\1$/s.exec(text.slice(moduleRequest.start, moduleRequest.end))?.[2];
    // A dynamic import runs after both modules were loaded: it cannot close a cycle.
    if (literal !== undefined) imports.push({ from: literal, line: lineAt(moduleRequest.start), lazy: true });
  }
  return { imports, exports };
}
