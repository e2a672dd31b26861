/** `call`: one tool, once. */

import { type CallToolResult, nearest, type Tool } from "@patchbay/core";
import { readArguments, readArgumentsJson } from "../arguments.ts";
import { withServer } from "../connection.ts";
import { describeBlock } from "../content.ts";
import type { Context, ServerOptions } from "../context.ts";
import { ExitCode, failed, usage } from "../failure.ts";
import { duration } from "../output.ts";
import { splitServer } from "../targets.ts";
import { visibleName, visibleNames } from "../visible.ts";

export interface CallOptions extends ServerOptions {
  /** The arguments as one JSON object: sent as they are. */
  args?: string;
}

export async function call(words: string[], options: CallOptions, context: Context): Promise<number> {
  const [server, [toolName, ...pairs]] = splitServer(words, context);
  const given = options.args === undefined ? undefined : readArgumentsJson(options.args);
  if (given !== undefined && pairs.length > 0) throw usage("Give key=value or --args, not both.");

  return withServer(server, options, context, async ({ client, target, request }) => {
    const { output } = context;
    const tools = await client.listTools(request);
    const tool = findTool(toolName, tools, target.name);
    const args = given ?? readArguments(pairs, tool.inputSchema);
    const began = performance.now();
    const result = await client.callTool(tool.name, args, {
      ...request,
      onProgress: ({ progress, total, message }) => {
        const far = total === undefined ? `${progress}` : `${progress} of ${total}`;
        output.progress(`${visibleName(tool.name)}: ${far}${message === undefined ? "" : `, ${message}`}`);
      },
    });
    if (output.verbose) output.note(`${visibleName(tool.name)} took ${duration(performance.now() - began)}`);
    if (output.json) output.value(result);
    else if (result.isError === true) throw failed(`${visibleName(tool.name)}: ${textOf(result)}`);
    else output.text(textOf(result));
    return result.isError === true ? ExitCode.failed : ExitCode.ok;
  });
}

function findTool(name: string | undefined, tools: Tool[], server: string): Tool {
  const names = tools.map((tool) => tool.name);
  const offers =
    names.length === 0
      ? `${visibleName(server)} offers no tools.`
      : `${visibleName(server)} offers: ${visibleNames(names)}.`;
  if (name === undefined) throw usage(`Which tool? ${offers}`);
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw usage(`There is no tool "${name}". ${offers}`, nearest(name, names));
  return tool;
}

/** The text of a result, or else its structured content. */
function textOf(result: CallToolResult): string {
  if (result.content.length > 0) return result.content.map(describeBlock).join("\n");
  return result.structuredContent === undefined ? "" : JSON.stringify(result.structuredContent, null, 2);
}
