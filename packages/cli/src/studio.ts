/** The host's graph for LangGraph Studio: with the model and the servers that `patchbay chat` would have here. */

import type { Host } from "@patchbay/host";
import { openAgent } from "./agent.ts";
import { readDotEnv } from "./environment.ts";
import { Interrupts } from "./interrupts.ts";
import { Output } from "./output.ts";

let host: Promise<Host> | undefined;

/** Gives the graph `host_agent`; servers are started once, however often Studio asks for it. */
export async function hostAgent(): ReturnType<Host["graph"]> {
  host ??= openHost();
  return (await host).graph();
}

async function openHost(): Promise<Host> {
  const output = new Output();
  const { variables, warning } = readDotEnv();
  if (warning !== undefined) output.warn(warning);
  const { signal } = new AbortController();
  const context = { output, signal, interrupts: new Interrupts(), command: undefined, fromFile: variables };
  const agent = await openAgent({}, context);
  return agent.host;
}
