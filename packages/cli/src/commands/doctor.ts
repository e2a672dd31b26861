/** `doctor`: is everything there that a question needs? Nothing is paid for, and no key is shown. */

import { chooseModel } from "@patchbay/host";
import type { AgentOptions } from "../agent.ts";
import { open } from "../connection.ts";
import type { Context } from "../context.ts";
import { ExitCode, toFailure } from "../failure.ts";
import type { Output } from "../output.ts";
import { shownUrl } from "../secrets.ts";
import { type Choice, chooseServers } from "../targets.ts";
import { visible, visibleLine, visibleName, visibleNames } from "../visible.ts";

/** One thing that was looked at. */
interface Finding {
  ok: boolean;
  /** What is wrong, and what to do. */
  problem?: string;
}

interface ServerFinding extends Finding {
  name: string;
  server?: string;
  revision?: string;
  tools?: string[];
}

interface Report {
  ok: boolean;
  node: Finding & { version: string };
  model: Finding & { name?: string };
  /** Whether each is set; never what it is. */
  keys: Record<string, boolean>;
  configuration: Finding;
  servers: ServerFinding[];
}

const KEYS = ["API_KEY", "OPENAI_API_KEY", "DEEPSEEK_API_KEY", "ANTHROPIC_API_KEY"];
const OLDEST_NODE = [20, 19] as const;

export async function doctor(options: AgentOptions, context: Context): Promise<number> {
  const { output, signal } = context;
  let choices: Choice[] = [];
  let configuration: Finding = { ok: true };
  try {
    choices = await chooseServers(options.server ?? [], options, context);
  } catch (thrown) {
    configuration = problem(thrown);
  }
  const [model, ...servers] = await Promise.all([
    lookAtModel(context),
    ...choices.map((choice) => lookAtServer(choice, options, context)),
  ]);
  signal.throwIfAborted();
  const keys = Object.fromEntries(KEYS.map((name) => [name, (process.env[name] ?? "").trim() !== ""]));
  const findings = [lookAtNode(), model, configuration, ...servers];
  const ok = findings.every((finding) => finding.ok);
  const report: Report = output.without({ ok, node: lookAtNode(), model, keys, configuration, servers });
  if (output.json) output.value(report);
  else show(report, findings.filter((finding) => !finding.ok).length, output);
  return ok ? ExitCode.ok : ExitCode.failed;
}

function lookAtNode(): Report["node"] {
  const { node: version } = process.versions;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const ok = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  return ok ? { ok, version } : { ok, version, problem: `install Node.js ${OLDEST_NODE.join(".")} or later` };
}

async function lookAtModel({ fromFile }: Context): Promise<Report["model"]> {
  try {
    return { ok: true, name: (await chooseModel(process.env, { fromFile })).label };
  } catch (thrown) {
    return problem(thrown);
  }
}

async function lookAtServer(choice: Choice, options: AgentOptions, context: Context): Promise<ServerFinding> {
  const name = /^https?:\/\//i.test(choice.name) ? shownUrl(choice.name) : choice.name;
  try {
    const { client, request } = await open(choice.find(), options, context);
    try {
      const tools = (await client.listTools(request)).map((tool) => tool.name).sort();
      const server =
        client.server === undefined ? {} : { server: `${client.server.name} ${client.server.version}` };
      return { ok: true, name, ...server, revision: client.revision, tools };
    } finally {
      await client.close();
    }
  } catch (thrown) {
    return { name, ...problem(thrown) };
  }
}

function problem(thrown: unknown): Finding & { ok: false } {
  return { ok: false, problem: toFailure(thrown).message };
}

function show(
  { ok, node, model, keys, configuration, servers }: Report,
  problems: number,
  output: Output,
): void {
  const { green, red, dim } = output.colors;
  const line = (finding: Finding, text: string) => {
    output.styled(
      `${finding.ok ? green("✓") : red("✗")} ${visible(finding.ok ? text : `${text}: ${finding.problem}`).replaceAll("\n", "\n  ")}`,
    );
  };
  line(node, `Node.js ${node.version}`);
  line(model, `model${model.name === undefined ? "" : `: ${model.name}`}`);
  for (const [name, set] of Object.entries(keys))
    output.styled(dim(`  ${name} is ${set ? "set" : "not set"}`));
  if (!configuration.ok) line(configuration, "configuration");
  for (const { name, server, revision, tools = [], ...finding } of servers) {
    const about = [
      server === undefined ? undefined : visibleName(server),
      revision,
      tools.length === 0 ? "no tools" : `tools: ${visibleNames(tools)}`,
    ];
    const shown = visibleName(name);
    const problem = finding.problem === undefined ? {} : { problem: visibleLine(finding.problem) };
    line({ ...finding, ...problem }, finding.ok ? `${shown}: ${about.filter(Boolean).join(", ")}` : shown);
  }
  output.styled(ok ? green("ok") : red(problems === 1 ? "1 problem" : `${problems} problems`));
}
