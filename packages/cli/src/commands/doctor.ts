/** `doctor`: is everything there that a question needs? Nothing is paid for, and no key is shown. */

import type { AgentOptions } from "../agent.ts";
import { type Config, readConfig } from "../config/config.ts";
import type { Context } from "../context.ts";
import type { ConfigurationFinding, Finding, Report, ServerFinding } from "../doctor/finding.ts";
import { lookAtServer } from "../doctor/server.ts";
import { lookAtKeys, lookAtModel, lookAtNode, lookAtVariables, variablesOf } from "../doctor/settings.ts";
import { showReport } from "../doctor/show.ts";
import { ExitCode, toFailure } from "../failure.ts";
import { type Choice, chooseServers } from "../targets.ts";

export async function doctor(options: AgentOptions, context: Context): Promise<number> {
  const { output, signal } = context;
  const { configuration, config, choices } = await lookAtConfiguration(options, context);
  const model = lookAtModel(context);
  const servers = await Promise.all([
    ...choices.map((choice) =>
      lookAtServer(
        choice,
        aboutOf(choice, config, context),
        model.then(({ model }) => model),
        options,
        context,
      ),
    ),
    ...disabledOnes(config, options),
  ]);
  signal.throwIfAborted();
  const node = lookAtNode();
  const { finding } = await model;
  const findings: Finding[] = [node, finding, configuration, ...servers];
  const problems = findings.filter(({ ok }) => !ok).length;
  const ok = problems === 0;
  const report: Report = output.without({
    ok,
    node,
    model: finding,
    keys: lookAtKeys(),
    variables: lookAtVariables(context),
    configuration,
    servers,
  });
  if (output.json) output.value(report);
  else showReport(report, problems, output);
  return ok ? ExitCode.ok : ExitCode.failed;
}

interface Looked {
  configuration: ConfigurationFinding;
  config: Config | undefined;
  choices: Choice[];
}

async function lookAtConfiguration(options: AgentOptions, context: Context): Promise<Looked> {
  try {
    const config = await readConfig(options.config);
    const { files, warnings } = config;
    const choices = await chooseServers(options.server ?? [], options, context, config);
    return { configuration: { ok: true, files, warnings }, config, choices: inTurn(choices) };
  } catch (thrown) {
    const problem = toFailure(thrown).message;
    return { configuration: { ok: false, files: [], warnings: [], problem }, config: undefined, choices: [] };
  }
}

/** One is found after another, as an entry may ask the user something. */
function inTurn(choices: readonly Choice[]): Choice[] {
  let last: Promise<unknown> = Promise.resolve();
  return choices.map(({ name, find }) => ({
    name,
    find: () => {
      const found = last.then(find);
      last = found.catch(() => {});
      return found;
    },
  }));
}

function aboutOf(
  { name }: Choice,
  config: Config | undefined,
  context: Context,
): Pick<ServerFinding, "from" | "variables"> {
  const named = config?.servers.get(name);
  if (named !== undefined) return { from: named.place, variables: variablesOf(named, context) };
  const from = /^https?:\/\//i.test(name) ? "URL" : context.command?.[0] === name ? "command" : "built-in";
  return { from, variables: {} };
}

/** Where the servers were not named, those that are not used are shown too. */
function disabledOnes(config: Config | undefined, { server }: AgentOptions): ServerFinding[] {
  if (config === undefined || server !== undefined) return [];
  return [...config.servers.values()]
    .filter(({ entry }) => entry.disabled === true)
    .map(({ name, place: from }) => ({
      ok: true,
      name,
      from,
      disabled: true,
      variables: {},
      steps: [],
      warnings: [],
    }));
}
