/** Checks that the build needs no development dependency: `npm start` installs without them, then compiles. */

import { codeOf, readModule } from "./sources.mjs";

/** What a package's `src` imports, or types of it, is no development dependency; types belong to the workspace's own. */
export function checkBuildTypes(sources) {
  const built = new Set(Object.keys(JSON.parse(sources.get("package.json")).dependencies ?? {}));
  const problems = [];
  for (const [file, text] of sources) {
    const folder = /^packages\/[^/]+\/(?=package\.json$)/.exec(file)?.[0];
    if (folder === undefined) continue;
    for (const needed of Object.keys(JSON.parse(text).devDependencies ?? {})) {
      // Workspaces are linked, whoever depends on them.
      if (built.has(needed) || needed.startsWith("@patchbay/")) continue;
      const typed = /^@types\/(.+)$/.exec(needed)?.[1]?.replace(/^(.+)__/, "@$1/");
      const name = typed ?? needed;
      const importer = importerOf(sources, `${folder}src/`, name);
      if (importer === undefined) continue;
      const line = text.slice(0, text.indexOf(`"${needed}"`)).split("\n").length;
      const remedy = typed
        ? `move it into "dependencies" of the workspace's package.json`
        : `make it a dependency, or import it by a name that is no literal`;
      problems.push(
        `${file}:${line}: ${importer} cannot be built without ${needed}, which npm start leaves out; ${remedy}`,
      );
    }
  }
  return problems;
}

/** The first file in `folder` that imports the module, if any. */
function importerOf(sources, folder, name) {
  for (const [file, text] of codeOf(sources)) {
    if (!file.startsWith(folder)) continue;
    if (readModule(file, text).imports.some(({ from }) => from === name || from.startsWith(`${name}/`))) {
      return file;
    }
  }
  return undefined;
}
