/** Loaded before a server whose memory is measured (with --expose-gc): at a message it says what is in use after collecting. */

import { setTimeout } from "node:timers/promises";

/** Milliseconds for connections that were closed to be let go. */
const SETTLE_MS = 300;
const COLLECTIONS = 4;

process.on("message", async () => {
  for (let i = 0; i < COLLECTIONS; i++) {
    await setTimeout(SETTLE_MS / COLLECTIONS);
    globalThis.gc();
  }
  const { heapUsed, external } = process.memoryUsage();
  process.send({ used: heapUsed + external });
});
process.channel.unref();
