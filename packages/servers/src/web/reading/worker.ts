/** The thread in which pages are read: what a page does to its reader, it does not do to the server. */

import { parentPort, resourceLimits } from "node:worker_threads";
import { boundBuffers } from "./buffers.ts";
import { outOfMemory, type Source, UnreadableError } from "./page.ts";
import { readSource } from "./read.ts";

/** What the thread is sent. */
export interface Job {
  source: Source;
  /** Characters of its text that are kept. */
  most: number;
}

const megabytes = resourceLimits.maxOldGenerationSizeMb ?? Number.POSITIVE_INFINITY;
let tooMuch: UnreadableError | undefined;
const beginJob = boundBuffers(megabytes * 1024 * 1024, () => {
  tooMuch = outOfMemory(megabytes);
  return tooMuch;
});

parentPort?.on("message", async ({ source, most }: Job) => {
  beginJob();
  tooMuch = undefined;
  try {
    const page = await readSource(source, most);
    // A library may have gone on with less.
    if (tooMuch !== undefined) throw tooMuch;
    parentPort?.postMessage({ page });
  } catch (error) {
    const told = tooMuch ?? error;
    const problem = told instanceof UnreadableError ? told.message : "the page is too broken to be read";
    parentPort?.postMessage({ problem });
  }
});
