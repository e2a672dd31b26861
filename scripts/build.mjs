/** `npm run build`: types by the compiler, code by the compiler or by the bundler; what did not change is not made again. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, runNode } from "./run.mjs";

const FOLDERS = readdirSync(join(ROOT, "packages"))
  .map((name) => join(ROOT, "packages", name))
  .filter((folder) => existsSync(join(folder, "tsconfig.json")));
const TSC = join(ROOT, "node_modules", "typescript", "bin", "tsc");

process.exitCode = await build();

async function build() {
  const code = await runNode(TSC, ["-b"]);
  if (code !== 0) return code;
  // Output that was removed behind the compiler's back is only made again when it is forced.
  if (!FOLDERS.every(isCompiled)) {
    const code = await runNode(TSC, ["-b", "--force"]);
    if (code !== 0) return code;
  }
  const bundled = FOLDERS.filter(emitsOnlyTypes);
  if (bundled.length === 0) return 0;
  const { bundle } = await import("./bundle.mjs");
  for (const folder of bundled) await bundle(folder);
  return 0;
}

function isCompiled(folder) {
  const output = emitsOnlyTypes(folder) ? "index.d.ts" : "index.js";
  return existsSync(join(folder, "dist", output));
}

/** A package whose compiler leaves out the code has it made by the bundler. */
function emitsOnlyTypes(folder) {
  const { compilerOptions } = JSON.parse(readFileSync(join(folder, "tsconfig.json"), "utf8"));
  return compilerOptions?.emitDeclarationOnly === true;
}
