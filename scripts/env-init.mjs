/** `npm run env:init`: makes .env from .env.example, and leaves one that is there alone. */

import { chmodSync, constants, copyFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./run.mjs";

try {
  copyFileSync(join(ROOT, ".env.example"), join(ROOT, ".env"), constants.COPYFILE_EXCL);
  // Keys will stand in it.
  chmodSync(join(ROOT, ".env"), 0o600);
  console.log(".env is there now: set what you need in it.");
} catch (thrown) {
  if (thrown.code !== "EEXIST") throw thrown;
  console.log(".env is there already, and stays as it is. What may be set is in .env.example.");
}
