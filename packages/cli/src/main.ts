#!/usr/bin/env node
/** The executable. */

import nodeModule from "node:module";

// Since Node 22 what was compiled is kept for the next start.
(nodeModule as { enableCompileCache?: () => void }).enableCompileCache?.();

const { main } = await import("./run.ts");
await main(process.argv.slice(2));
