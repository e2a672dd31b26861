/** The thread in which pages are read: what a page does to its reader, it does not do to the server. */

import { parentPort } from "node:worker_threads";
import { type Source, UnreadableError } from "./page.ts";
import { readSource } from "./read.ts";

/** What the thread is sent. */
export interface Job {
  source: Source;
  /** Characters of its text that are kept. */
  most: number;
}

parentPort?.on("message", async ({ source, most }: Job) => {
  try {
    parentPort?.postMessage({ page: await readSource(source, most) });
  } catch (error) {
    const problem = error instanceof UnreadableError ? error.message : "the page is too broken to be read";
    parentPort?.postMessage({ problem });
  }
});
