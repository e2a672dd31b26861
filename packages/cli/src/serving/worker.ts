/** One worker of `serve --workers`: serves as the process that started it says, until that tells it to drain. */

import type { Context } from "../context.ts";
import { toFailure } from "../failure.ts";
import { drainOn, listen } from "./here.ts";
import { load } from "./load.ts";
import { type FromWorker, isOurs, type ToWorker } from "./messages.ts";
import type { HttpPlan } from "./plan.ts";

export async function serveAsWorker(name: string, plan: HttpPlan, context: Context): Promise<void> {
  const drain = new AbortController();
  answerSignals(drain);
  const begin = await beginning(drain);
  const { secrets, port } = begin;
  const sessions = plan.sessions.kind === "sealed" ? { ...plan.sessions, secrets } : plan.sessions;
  let running: Awaited<ReturnType<typeof listen>>;
  try {
    running = await listen(await load(name), { ...plan, port, secrets, sessions });
  } catch (thrown) {
    const { kind, exitCode, message } = toFailure(thrown);
    await tell({ kind: "failure", failure: kind, exitCode, message: context.output.without(message) });
    return;
  }
  await tell({ kind: "listening", url: running.url });
  await drainOn(drain.signal, running, plan);
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
