/** `serve`: a built-in server, or one that a module exports, over stdio or HTTP. */

import type { Context } from "../context.ts";
import { openJournal } from "../serving/journal.ts";
import { load } from "../serving/load.ts";
import { planOf, type ServeOptions, type StdioPlan } from "../serving/plan.ts";

/** Resolves when the client hangs up (stdio), or when it is told to stop. */
export async function serve(name: string, options: ServeOptions, context: Context): Promise<void> {
  const plan = planOf(options);
  if (plan.kind === "stdio") return overStdio(name, plan, context);
  if (plan.workers > 1) return (await import("../serving/workers.ts")).serveByWorkers(name, plan, context);
  return (await import("../serving/here.ts")).serveHere(name, plan, context);
}

async function overStdio(name: string, plan: StdioPlan, { output, signal }: Context): Promise<void> {
  const server = await load(name);
  const { serveStdio } = await import("@patchbay/server/stdio");
  const journal = plan.log.format === "off" ? undefined : await openJournal(plan.log, output);
  if (journal?.observer !== undefined) server.observe(journal.observer);
  if (process.stdin.isTTY) output.note(`${name} speaks MCP on stdin and stdout. Ctrl-C ends it.`);
  const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve));
  await Promise.race([serveStdio(server), stopped]);
  await journal?.close();
}
