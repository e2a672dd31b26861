/** One worker of `serve --workers`: serves as the process that started it says, until that tells it to drain. */

import type { Metrics } from "@patchbay/server/metrics";
import type { Context } from "../context.ts";
import { toFailure } from "../failure.ts";
import { listen, told } from "./here.ts";
import { hideSecrets } from "./hide.ts";
import { openJournal } from "./journal.ts";
import { load, type Wanted } from "./load.ts";
import { type FromWorker, isOurs, type ToWorker } from "./messages.ts";
import type { HttpPlan } from "./plan.ts";

export async function serveAsWorker(what: Wanted, plan: HttpPlan, context: Context): Promise<void> {
  const drain = new AbortController();
  answerSignals(drain);
  const { secrets, port, number, clientSecret } = await beginning(drain);
  const sessions = plan.sessions.kind === "sealed" ? { ...plan.sessions, secrets } : plan.sessions;
  const auth = plan.auth?.kind === "introspection" ? { ...plan.auth, clientSecret } : plan.auth;
  const own = { ...plan, port, secrets, sessions, auth };
  hideSecrets(own, context.output);
  let served: Awaited<ReturnType<typeof listen>>;
  const journal = await openJournal(plan.log, context.output, { worker: number });
  try {
    served = await listen(await load(what, context.output), own, journal, await sharedMetrics(plan, number));
  } catch (thrown) {
    const { kind, exitCode, message } = toFailure(thrown);
    await tell({ kind: "failure", failure: kind, exitCode, message: context.output.without(message) });
    return;
  }
  await tell({ kind: "listening", url: served.url });
  await told(drain.signal);
  await served.drain();
  await journal.close();
}

/** They are gathered by the process that started us. */
async function sharedMetrics({ metrics: place }: HttpPlan, number: number): Promise<Metrics | undefined> {
  if (place === undefined) return undefined;
  const { createMetrics } = await import("@patchbay/server/metrics");
  const metrics = createMetrics();
  metrics.share(`${number}`);
  return metrics;
}

/** A terminal, or a group's end, signals all: one asks to drain, and only the process that started us ends us at once. */
function answerSignals(drain: AbortController): void {
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.removeAllListeners(name);
    process.on(name, () => drain.abort());
  }
}

function beginning(drain: AbortController): Promise<Extract<ToWorker, { kind: "begin" }>> {
  return new Promise((resolve) => {
    process.on("message", (message) => {
      if (!isOurs<ToWorker>(message, "begin", "drain")) return;
      if (message.kind === "begin") resolve(message);
      else drain.abort();
    });
    void tell({ kind: "hears" });
  });
}

function tell(message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(message, () => resolve());
  });
}
