/** Checks that the build needs no development dependency: `npm start` installs without them, then compiles. */

import { codeOf, readModule } from "./sources.mjs";

/** Types of what a package's `src` imports belong to the workspace's own dependencies. */
export function checkBuildTypes(sources) {
  const built = new Set(Object.keys(JSON.parse(sources.get("package.json")).dependencies ?? {}));
  const problems = [];
  for (const [file, text] of sources) {
    const folder = /^packages\/[^/]+\/(?=package\.json$)/.exec(file)?.[0];
    if (folder === undefined) continue;
    for (const types of Object.keys(JSON.parse(text).devDependencies ?? {})) {
      const name = /^@types\/(.+)$/.exec(types)?.[1]?.replace(/^(.+)__/, "@$1/");
      if (name === undefined || built.has(types)) continue;
      const importer = importerOf(sources, `${folder}src/`, name);
      if (importer === undefined) continue;
      const line = text.slice(0, text.indexOf(`"${types}"`)).split("\n").length;
      problems.push(
        `${file}:${line}: ${importer} cannot be built without ${types}, which npm start leaves out; move it into "dependencies" of the workspace's package.json`,
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
