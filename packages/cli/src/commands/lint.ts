/** `lint`: how each tool of a server is told to a model's provider, and what is lost on the way. */

import { nearest, type Tool } from "@patchbay/core";
import {
  FORMATS,
  type OfferedTool,
  offer,
  type SetAside,
  TOOL_FORMATS,
  type ToolFormat,
} from "@patchbay/host/tools";
import { withServer } from "../connection.ts";
import type { Context, ServerOptions } from "../context.ts";
import { ExitCode, usage } from "../failure.ts";
import type { Output } from "../output.ts";
import { visibleLine, visibleName } from "../visible.ts";

export interface LintOptions extends ServerOptions {
  provider?: string[];
}

/** One tool, as one provider is told of it. */
interface Finding {
  tool: string;
  provider: ToolFormat;
  /** What the model calls it; missing where the provider cannot be told of it. */
  name?: string;
  /** Why not. */
  reason?: string;
  /** What the provider's copy of the schema no longer says. */
  lost: string[];
}

/** Exit 1 when a provider cannot be told of a tool at all; what is only told less exactly is no failure. */
export async function lint(
  name: string | undefined,
  options: LintOptions,
  context: Context,
): Promise<number> {
  const providers = readProviders(options.provider ?? []);
  return await withServer(name, options, context, async ({ client, target, request }) => {
    const { output } = context;
    const tools = await client.listTools(request);
    const findings: Finding[] = [];
    for (const provider of providers) {
      const found = tools.map((tool) => ({ server: target.name, client, tool }));
      const { tools: offered, setAside } = await offer(found, provider);
      findings.push(...findingsOf(tools, provider, offered, setAside));
    }
    const refused = findings.filter(({ reason }) => reason !== undefined);
    if (output.json) output.value({ ok: refused.length === 0, tools: tools.length, providers, findings });
    else show(findings, tools.length, providers, output);
    return refused.length === 0 ? ExitCode.ok : ExitCode.failed;
  });
}

function readProviders(named: readonly string[]): ToolFormat[] {
  if (named.length === 0) return TOOL_FORMATS;
  return named.map((each) => {
    const provider = ALIASES[each.toLowerCase()] ?? each.toLowerCase();
    const known = TOOL_FORMATS.find((format) => format === provider);
    if (known !== undefined) return known;
    throw usage(
      `There is no provider "${visibleName(each)}". --provider takes ${TOOL_FORMATS.join(", ")}.`,
      nearest(each, TOOL_FORMATS),
    );
  });
}

const ALIASES: Record<string, ToolFormat> = { gpt: "openai", claude: "anthropic", google: "gemini" };

function findingsOf(
  tools: readonly Tool[],
  provider: ToolFormat,
  offered: readonly OfferedTool[],
  setAside: readonly SetAside[],
): Finding[] {
  const known = new Map(offered.map((each) => [each.tool, each]));
  const reasons = new Map(setAside.map((each) => [each.tool, each.reason]));
  return tools.map((tool) => {
    const found = known.get(tool);
    if (found !== undefined) return { tool: tool.name, provider, name: found.name, lost: found.lost };
    const reason = reasons.get(tool.name) ?? "it is not offered";
    return { tool: tool.name, provider, reason, lost: [] };
  });
}

function show(
  findings: readonly Finding[],
  count: number,
  providers: readonly ToolFormat[],
  output: Output,
): void {
  const { bold, red, yellow } = output.colors;
  const byTool = new Map<string, Finding[]>();
  for (const finding of findings) {
    const own = byTool.get(finding.tool);
    if (own === undefined) byTool.set(finding.tool, [finding]);
    else own.push(finding);
  }
  for (const [tool, own] of byTool) {
    const lines = own.flatMap((finding) => linesOf(finding, { red, yellow }));
    if (lines.length === 0) continue;
    output.styled(bold(visibleName(tool)));
    for (const line of lines) output.styled(`  ${line}`);
  }
  const refused = new Set(findings.filter(({ reason }) => reason !== undefined).map(({ tool }) => tool)).size;
  const titles = providers.map((provider) => FORMATS[provider].title).join(", ");
  output.styled(`${count} ${count === 1 ? "tool" : "tools"}, ${refused} that cannot be offered (${titles})`);
}

type Paint = (text: string) => string;

function linesOf(
  { tool, provider, name, reason, lost }: Finding,
  { red, yellow }: { red: Paint; yellow: Paint },
): string[] {
  if (reason !== undefined) return [`${red(provider)}: cannot be offered: ${visibleLine(reason)}`];
  const renamed = name === tool || name === undefined ? [] : [`${yellow(provider)}: is called ${name}`];
  return [...renamed, ...lost.map((what) => `${yellow(provider)}: is not told ${visibleLine(what)}`)];
}
