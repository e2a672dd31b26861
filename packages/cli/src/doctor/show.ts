/** Shows what `doctor` found, for people. */

import type { Output } from "../output.ts";
import { visible, visibleLine, visibleName, visibleNames } from "../visible.ts";
import type { Finding, Report, ServerFinding } from "./finding.ts";

export function showReport(report: Report, problems: number, output: Output): void {
  const { green, red, yellow, dim } = output.colors;
  const { node, model, keys, variables, configuration, servers } = report;
  const line = (finding: Finding, text: string) => {
    const what = finding.ok ? text : `${text}: ${finding.problem}`;
    output.styled(`${finding.ok ? green("✓") : red("✗")} ${visible(what).replaceAll("\n", "\n  ")}`);
    if (finding.remedy !== undefined) output.styled(`  → ${visible(finding.remedy)}`);
  };
  const warn = (text: string) => output.styled(`  ${yellow("!")} ${visibleLine(text)}`);
  line(node, `Node.js ${node.version}`);
  line(model, `model${model.name === undefined ? "" : `: ${model.name}`}`);
  for (const [name, set] of Object.entries(keys)) {
    const from = variables[name] === ".env" ? " (.env)" : "";
    output.styled(dim(`  ${name} is ${set ? `set${from}` : "not set"}`));
  }
  for (const [name, origin] of Object.entries(variables))
    if (!(name in keys)) output.styled(dim(`  ${name} is set (${origin})`));
  if (!configuration.ok || configuration.files.length > 0)
    line(
      configuration,
      configuration.ok ? `configuration: ${configuration.files.join(", ")}` : "configuration",
    );
  for (const warning of configuration.warnings) warn(warning);
  for (const server of servers) {
    if (server.disabled === true)
      output.styled(dim(`- ${visibleName(server.name)}: disabled (${visibleLine(server.from)})`));
    else {
      line({ ...server, ...oneLine(server) }, titleOf(server));
      for (const [name, origin] of Object.entries(server.variables))
        output.styled(dim(`  ${visibleName(name)}: ${origin}`));
      for (const warning of server.warnings) warn(warning);
    }
  }
  output.styled(report.ok ? green("ok") : red(problems === 1 ? "1 problem" : `${problems} problems`));
}

function oneLine({ problem }: ServerFinding): { problem?: string } {
  return problem === undefined ? {} : { problem: visibleLine(problem) };
}

function titleOf({
  name,
  ok,
  failed,
  server,
  revision,
  tools = [],
  resources = 0,
  prompts = 0,
}: ServerFinding): string {
  const shown = visibleName(name);
  if (!ok) return failed === undefined || failed === "configuration" ? shown : `${shown}: ${failed}`;
  const about = [
    server === undefined ? undefined : visibleName(server),
    revision,
    tools.length === 0 ? "no tools" : `tools: ${visibleNames(tools)}`,
    resources === 0 ? undefined : `resources: ${resources}`,
    prompts === 0 ? undefined : `prompts: ${prompts}`,
  ];
  return `${shown}: ${about.filter(Boolean).join(", ")}`;
}
