/** A host with its model and its servers, as `ask`, `chat` and their options describe it. */

import { chooseModel, createHost, type Host, readHostSettings, warmUp } from "@patchbay/host";
import { type Connection, open } from "./connection.ts";
import type { Context, ServerOptions } from "./context.ts";
import { type Failure, toFailure, unreachable } from "./failure.ts";
import { chooseServers, type Target } from "./targets.ts";

export interface AgentOptions extends ServerOptions {
  server?: string[];
}

export interface Agent {
  host: Host;
  /** The names of the servers that were reached. */
  servers: string[];
}

/**
 * Starts the servers, chooses the model, and loads the loop, all at once; the caller closes the host.
 * A server of the configuration that cannot be reached is left out with a warning; one that was asked for is an error.
 *
 * @throws Failure when no server can be reached, or one that was named
 */
export async function openAgent(options: AgentOptions, context: Context): Promise<Agent> {
  const names = options.server ?? [];
  const { systemPrompt, toolTimeout = options.timeout } = readHostSettings(process.env);
  const choices = await chooseServers(names, options, context);
  // One after another: an entry may ask the user something.
  const targets: Target[] = [];
  const missing: Failure[] = [];
  for (const choice of choices) {
    try {
      targets.push(await choice.find());
    } catch (thrown) {
      context.signal.throwIfAborted();
      missing.push(toFailure(thrown));
    }
  }
  const wanted = names.length > 0 || context.command !== undefined;
  if (missing[0] !== undefined && (wanted || targets.length === 0)) throw missing[0];
  const [model, , ...connections] = await Promise.allSettled([
    chooseModel(process.env, { fromFile: context.fromFile }),
    warmUp(),
    ...targets.map((target) => open(target, options, context)),
  ]);
  const reached = connections.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const refused = connections.flatMap((each) => (each.status === "rejected" ? [toFailure(each.reason)] : []));
  try {
    context.signal.throwIfAborted();
    if (model.status === "rejected") throw model.reason;
    const all = refused.map((failure) => failure.message).join("\n");
    if (refused.length > 0 && (wanted || reached.length === 0)) throw unreachable(all);
  } catch (thrown) {
    await Promise.all(reached.map(({ client }) => client.close()));
    throw thrown;
  }
  for (const failure of [...missing, ...refused]) context.output.warn(`${failure.message} It is left out.`);
  const clients = new Map<string, Connection["client"]>();
  for (const { target, client } of reached) {
    // Two URLs may differ only in what is not shown.
    let name = target.name;
    for (let number = 2; clients.has(name); number++) name = `${target.name} (${number})`;
    clients.set(name, client);
  }
  const host = createHost({
    clients,
    model: model.value,
    systemPrompt,
    toolTimeout,
  });
  return { host, servers: [...clients.keys()] };
}
