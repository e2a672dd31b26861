/** `serve`: a built-in server, or one that a module exports, over stdio or HTTP. */

import type { Context } from "../context.ts";
import { load } from "../serving/load.ts";
import { type HttpPlan, planOf, type ServeOptions } from "../serving/plan.ts";

/** Resolves when the client hangs up (stdio), or when it is told to stop. */
export async function serve(name: string, options: ServeOptions, context: Context): Promise<void> {
  const plan = planOf(options);
  if (plan === "stdio") await overStdio(name, context);
  else await overHttp(name, plan, context);
}

async function overStdio(name: string, { output, signal }: Context): Promise<void> {
  const server = await load(name);
  const { serveStdio } = await import("@patchbay/server/stdio");
  if (process.stdin.isTTY) output.note(`${name} speaks MCP on stdin and stdout. Ctrl-C ends it.`);
  await Promise.race([
    serveStdio(server),
    new Promise((resolve) => signal.addEventListener("abort", resolve)),
  ]);
}

async function overHttp(name: string, plan: HttpPlan, context: Context): Promise<void> {
  if (plan.workers === 1) {
    const { serveHere } = await import("../serving/here.ts");
    return serveHere(name, plan, context);
  }
  const { serveByWorkers } = await import("../serving/workers.ts");
  await serveByWorkers(name, plan, context);
}
