#!/usr/bin/env node
/** The command `patchbay`: a file that is there before the build, so that npm can link it. */

import { existsSync } from "node:fs";

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  console.error("patchbay is not built yet: run `npm start`, or `npm run build`, in its repository");
  process.exit(1);
}
