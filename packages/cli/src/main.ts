#!/usr/bin/env node
/** The executable. */

import { main } from "./run.ts";

await main(process.argv.slice(2));
