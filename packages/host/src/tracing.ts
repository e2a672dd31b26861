/** LangSmith tracing: its own variables turn it on; what has not been sent yet is sent before the host is gone. */

import type { Environment } from "./settings.ts";

/** Milliseconds that a LangSmith which does not answer may hold us up. */
const MAX_WAIT = 5_000;
const SWITCHES = ["LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING"];

/** As the library of LangSmith sees it. */
export function isTraced(env: Environment): boolean {
  return SWITCHES.some((name) => env[name] === "true");
}

/** Resolves when LangSmith has what was traced, or after five seconds. */
export async function sendTraces(): Promise<void> {
  const [{ LangChainTracer }, { awaitAllCallbacks }] = await Promise.all([
    import("@langchain/core/tracers/tracer_langchain"),
    import("@langchain/core/callbacks/promises"),
  ]);
  const { client } = new LangChainTracer() as { client: { awaitPendingTraceBatches?(): Promise<unknown> } };
  const sent = awaitAllCallbacks().then(() => client.awaitPendingTraceBatches?.());
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, MAX_WAIT);
  });
  await Promise.race([sent, late]).catch(() => {});
  clearTimeout(timer);
}
