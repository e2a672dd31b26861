/** `serve`: a built-in server, or one that a module exports, over stdio or HTTP. */

import type { Context } from "../context.ts";
import type { Told } from "../serving/builtin-commands.ts";
import { openJournal } from "../serving/journal.ts";
import { load, type Wanted } from "../serving/load.ts";
import { planOf, type ServeOptions, type StdioPlan } from "../serving/plan.ts";

/**
 * Resolves when the client hangs up (stdio), or when it is told to stop.
 *
 * @param told what the command line says to a built-in server
 */
export async function serve(
  name: string,
  options: ServeOptions,
  context: Context,
  told?: Told,
): Promise<void> {
  const plan = planOf(options);
  const what: Wanted = { name, told };
  if (plan.kind === "stdio") return overStdio(what, plan, context);
  if (plan.workers > 1) return (await import("../serving/workers.ts")).serveByWorkers(what, plan, context);
  return (await import("../serving/here.ts")).serveHere(what, plan, context);
}

async function overStdio(what: Wanted, plan: StdioPlan, { output, signal }: Context): Promise<void> {
  const { name } = what;
  const server = await load(what, output);
  const { serveStdio } = await import("@patchbay/server/stdio");
  const journal = plan.log.format === "off" ? undefined : await openJournal(plan.log, output);
  if (journal?.observer !== undefined) server.observe(journal.observer);
  if (process.stdin.isTTY) output.note(`${name} speaks MCP on stdin and stdout. Ctrl-C ends it.`);
  const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve));
  await Promise.race([serveStdio(server), stopped]);
  await journal?.close();
}
