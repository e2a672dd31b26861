#!/usr/bin/env node
/** The command `patchbay`: a file that is there before the build, so that npm can link it. */

import { existsSync } from "node:fs";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `patchbay needs Node.js 20.19 or later; this is ${process.versions.node}. See https://nodejs.org.`,
  );
  process.exit(1);
}

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  console.error("patchbay is not built yet: run `npm start`, or `npm run build`, in its repository");
  process.exit(1);
}
