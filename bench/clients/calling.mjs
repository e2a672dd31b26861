/**
 * What every client here does once it is connected: on a line `concurrency ms` of its stdin it keeps so many calls open for
 * so long, each awaited and checked as an application would, and prints what came of it.
 */

import { createInterface } from "node:readline";
import { sampleOf } from "../closed-loop.mjs";
import { echo, FIRST_NUMBER } from "../messages.mjs";

/** What this client was started for: a URL, or a command and its arguments; and the revision that it is to speak. */
export const target = JSON.parse(process.argv[2]);
export const revision = process.argv[3];

/** @param {(args: { text: string }, n: number) => Promise<any>} call calls `echo`, and gives its result */
export function calling(call) {
  let next = FIRST_NUMBER;
  createInterface({ input: process.stdin }).on("line", async (line) => {
    const [concurrency, ms] = line.split(" ").map(Number);
    const latencies = [];
    let answered = 0;
    const start = performance.now();
    const deadline = start + ms;
    async function oneAfterAnother() {
      for (let sentAt = performance.now(); sentAt < deadline; ) {
        const n = next++;
        const result = await call(echo.params(n).arguments, n);
        if (!echo.isRight(result, n))
          throw new Error(`wrong result: ${JSON.stringify(result)?.slice(0, 200)}`);
        const now = performance.now();
        answered++;
        if (now < deadline) latencies.push(now - sentAt);
        sentAt = now;
      }
    }
    await Promise.all(Array.from({ length: concurrency }, oneAfterAnother));
    console.log(JSON.stringify(sampleOf(latencies, answered, ms / 1000)));
  });
  process.stdin.on("end", () => process.exit(0));
  console.log("ready");
}
