/** The files that the checks read: what git knows, or would take; and what a file imports and exports. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";

/** Path from the root, with `/` → text: of committed files, and of new ones that are not ignored. */
export function readSources(root) {
  const options = ["--cached", "--others", "--exclude-standard", "-z"];
  const listed = execFileSync("git", ["ls-files", ...options], { cwd: root, encoding: "utf8" });
  const sources = new Map();
  for (const file of listed.split("\0").filter(Boolean).sort()) {
    try {
      const bytes = readFileSync(join(root, file));
      if (!bytes.subarray(0, 8_000).includes(0)) sources.set(file, bytes.toString());
    } catch {
      // Git still lists what was removed.
    }
  }
  return sources;
}

/** The code among the sources, as `[file, text]`. */
export function codeOf(sources) {
  return [...sources].filter(([file]) => isCode(file));
}

export function isCode(file) {
  return /\.(ts|mts|js|mjs)$/.test(file);
}

/**
 * @returns {{ imports: { from: string, line: number, typeOnly: boolean }[],
 *   exports: { name: string, line: number }[] }}
 */
export function readModule(file, text) {
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
