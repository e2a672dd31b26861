/** The process that has SQLite: it does what it is told, one request at a time, and can be killed at any. */

import { isMainThread, Worker, workerData } from "node:worker_threads";
import { type Opening, OUT_OF_MEMORY, type Request } from "./messages.ts";

/** Milliseconds between two looks at how much memory is used. */
const LOOK_EVERY = 100;

if (isMainThread) await serve(JSON.parse(process.argv[2] ?? "") as Opening);
else watch(workerData as { maxMemoryBytes: number; parent: number });

async function serve(opening: Opening): Promise<void> {
  const { maxMemoryBytes } = opening;
  new Worker(new URL(import.meta.url), { workerData: { maxMemoryBytes, parent: process.ppid } }).unref();
  const { Answers } = await import("./answers.ts");
  const answers = new Answers(opening);
  process.on("message", (request: Request) => process.send?.(answers.reply(request)));
  process.on("disconnect", () => {
    answers.close();
    process.exit();
  });
  if (!process.connected) process.exit();
  process.send?.("started");
}

/** The watch, a thread of its own, since the other one is inside of SQLite. */
function watch({ maxMemoryBytes, parent }: { maxMemoryBytes: number; parent: number }): void {
  setInterval(() => {
    if (process.memoryUsage.rss() > maxMemoryBytes) process.kill(process.pid, OUT_OF_MEMORY);
    if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
  }, LOOK_EVERY);
}
