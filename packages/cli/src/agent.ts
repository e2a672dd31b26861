/** A host with its model and its servers, as `ask`, `chat` and their options describe it. */

import { setMaxListeners } from "node:events";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Client } from "@patchbay/client";
import {
  type ConversationStore,
  chooseModel,
  conversationFiles,
  createHost,
  fileTrust,
  type Host,
  type Model,
  readHostSettings,
  type ServerIdentity,
  warmUp,
} from "@patchbay/host";
import { Activity } from "./activity.ts";
import { approver } from "./approvals.ts";
import { trustFile } from "./config/approval.ts";
import { userConfigFile } from "./config/config.ts";
import { open } from "./connection.ts";
import type { Context, ServerOptions } from "./context.ts";
import { canAsk } from "./dialog.ts";
import { type Failure, toFailure, unreachable, usage } from "./failure.ts";
import { switchable } from "./model-switch.ts";
import type { Output } from "./output.ts";
import { askUser } from "./questions.ts";
import { openRecording, type Recording } from "./recording.ts";
import { shownUrl } from "./secrets.ts";
import { chooseServers, loadConfig, type Target } from "./targets.ts";

const MAX_CALLS = 1_000;

export interface AgentOptions extends ServerOptions {
  server?: string[];
  /** A folder in which each turn is recorded. */
  record?: string;
}

export interface Agent {
  host: Host;
  /** The servers that were reached, by their names. */
  clients: ReadonlyMap<string, Client>;
  conversations: ConversationStore;
  recording: Recording;
  /** What the user sees and may press while a turn runs. */
  activity: Activity;
  /** Who answers. */
  model: Pick<Model, "label">;
  /**
   * Has another model of the same provider answer from now on.
   *
   * @throws HostError `configuration` when there is none of that name; Failure (usage) when there is no provider
   */
  useModel(name: string): Promise<void>;
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
  const config = await loadConfig(options, context);
  const { approvals, roots } = config;
  const choices = await chooseServers(names, options, context, config);
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
  // LangGraph has as many listen to one signal as calls are made at once; Node would warn of more than ten.
  setMaxListeners(MAX_CALLS);
  const warming = warmUp();
  // No question waits for it any more where a server cannot be reached.
  warming.catch(() => {});
  const { fromFile } = context;
  const chosen = switchable(await chooseModel(process.env, { fromFile }));
  const activity = new Activity(context.output);
  const rules = {
    ...approvals,
    allow: [...approvals.allow, ...targets.filter(isHarmless).map(({ name }) => `${name}/*`)],
  };
  const recording = await openRecording(options.record, rules, context.output);
  const model = recording.model(chosen);
  const conversations = conversationFiles(conversationsFolder());
  const asks = canAsk() && !context.output.json;
  const traces = await tracesOf(process.env);
  const host = createHost({
    model,
    ...(traces && { telemetry: traces.host }),
    systemPrompt,
    toolTimeout,
    rules,
    ...(roots.length > 0 && { roots: roots.map((root) => ({ uri: pathToFileURL(root).href })) }),
    onApproval: approver(options, context, activity),
    onElicit: asks
      ? (params, { server, signal }) => activity.whileAsking(() => askUser(server, params, signal))
      : undefined,
    trust: fileTrust(trustFile()),
    checkpoints: conversations,
  });
  const named = new Map<string, Target>();
  for (const target of targets) {
    // Two URLs may differ only in what is not shown.
    let name = target.name;
    for (let number = 2; named.has(name); number++) name = `${target.name} (${number})`;
    named.set(name, target);
  }
  const connections = await Promise.allSettled(
    Array.from(named, async ([name, target]) => {
      const identity = identityOf(name, target, context.output);
      await host.admit(identity, { signal: context.signal, approved: true });
      const { client } = await open(target, options, context, {
        ...host.connectOptions(name),
        onMessage: recording.watch(name),
        ...(traces && { middleware: [traces.client] }),
      });
      host.add(name, client);
      return [name, client] as const;
    }),
  );
  const clients = new Map(connections.flatMap((each) => (each.status === "fulfilled" ? [each.value] : [])));
  const refused = connections.flatMap((each) => (each.status === "rejected" ? [toFailure(each.reason)] : []));
  try {
    context.signal.throwIfAborted();
    const all = refused.map((failure) => failure.message).join("\n");
    if (refused.length > 0 && (wanted || clients.size === 0)) throw unreachable(all);
    await warming;
  } catch (thrown) {
    await host.close();
    throw thrown;
  }
  for (const failure of [...missing, ...refused]) context.output.warn(`${failure.message} It is left out.`);
  return {
    host,
    clients,
    conversations,
    recording,
    activity,
    model: chosen,
    async useModel(name) {
      const { provider } = chosen;
      if (provider === "rules")
        throw usage("The rule planner is no AI model; README.md says how to get one. Then start again.");
      chosen.change(await chooseModel(process.env, { fromFile, provider, model: name }));
    },
  };
}

/** Beside the user's own configuration. */
export function conversationsFolder(): string {
  return join(dirname(userConfigFile()), "conversations");
}

/** Spans for OpenTelemetry, where its variables say that somebody collects them. */
async function tracesOf(env: NodeJS.ProcessEnv) {
  if (!Object.keys(env).some((name) => name.startsWith("OTEL_"))) return undefined;
  const [{ telemetry: ofHost }, { telemetry: ofClient }] = await Promise.all([
    import("@patchbay/host/telemetry"),
    import("@patchbay/client/telemetry"),
  ]);
  return { host: ofHost(), client: ofClient() };
}

/** The built-ins that change nothing, and send a place's name at most, to one service: nobody need be asked. */
function isHarmless({ name, builtin }: Target): boolean {
  return builtin === true && (name === "calculator" || name === "weather");
}

/** What a server is, without the secrets that it is given. */
function identityOf(name: string, { to, identity, builtin }: Target, output: Output): ServerIdentity {
  if (identity !== undefined) return identity;
  const about = { name, origin: builtin === true ? "builtin" : "typed" } as const;
  if ("url" in to)
    return { ...about, url: output.without(shownUrl(to.url)), headers: Object.keys(to.headers ?? {}) };
  const { command, args = [], env = {}, cwd } = to;
  return {
    ...about,
    command: output.without(command),
    args: output.without(args),
    env: Object.keys(env),
    ...(cwd !== undefined && { cwd }),
  };
}
