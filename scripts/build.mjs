/** `npm run build`: the types by the compiler, the code by the bundler; what did not change is not made again. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { bundle, emitsOnlyTypes, packageFolders } from "./bundle.mjs";
import { ROOT, runNode } from "./run.mjs";

const TSC = join(ROOT, "node_modules", "typescript", "bin", "tsc");

process.exitCode = await build();

async function build() {
  let code = await runNode(TSC, ["-b"]);
  // Output that was removed behind the compiler's back is only made again when it is forced.
  if (code === 0 && !packageFolders().every(isCompiled)) code = await runNode(TSC, ["-b", "--force"]);
  if (code === 0) await bundle();
  return code;
}

function isCompiled(folder) {
  return existsSync(join(folder, "dist", emitsOnlyTypes(folder) ? "index.d.ts" : "index.js"));
}
