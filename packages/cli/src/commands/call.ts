/** `call`: one tool, once. */

import { type CallToolResult, nearest, type Tool } from "@patchbay/core";
import { readArguments, readArgumentsJson } from "../arguments.ts";
import { withServer } from "../connection.ts";
import { describeBlock } from "../content.ts";
import type { Context, ServerOptions } from "../context.ts";
import { ExitCode, type Failure, failed, usage } from "../failure.ts";
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

  return withServer(server, options, context, async ({ client, target, authorized, request }) => {
    const { output } = context;
    const tools = await client.listTools(request);
    const found = tools.find((candidate) => candidate.name === toolName);
    // What a login is not allowed is not listed either: the server says so to who asks for it.
    const mayBeHidden = found === undefined && authorized;
    const tool =
      mayBeHidden && toolName !== undefined ? hidden(toolName) : findTool(toolName, tools, target.name);
    const args = given ?? readArguments(pairs, tool.inputSchema);
    const began = performance.now();
    const name = visibleName(tool.name);
    const calling = client.callTool(tool.name, args, {
      ...request,
      onProgress: ({ progress, total, message }) => {
        const far = total === undefined ? `${progress}` : `${progress} of ${total}`;
        output.progress(`${name}: ${far}${message === undefined ? "" : `, ${message}`}`);
      },
    });
    const result = await calling.catch((thrown) => {
      const isUnknown = mayBeHidden && (thrown as Error).name === "ProtocolError";
      throw isUnknown ? unknown(tool.name, tools, target.name) : thrown;
    });
    if (output.verbose) output.note(`${name} took ${duration(performance.now() - began)}`);
    if (output.json) output.value(result);
    else if (result.isError === true) throw failed(named(name, textOf(result)));
    else output.text(textOf(result));
    return result.isError === true ? ExitCode.failed : ExitCode.ok;
  });
}

/** What some tools begin an error with is their own name. */
function named(name: string, text: string): string {
  return text.startsWith(`${name} `) ? text : `${name}: ${text}`;
}

function findTool(name: string | undefined, tools: Tool[], server: string): Tool {
  if (name === undefined) throw usage(`Which tool? ${offers(tools, server)}`);
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw unknown(name, tools, server);
  return tool;
}

/** A tool of which nothing is known but its name. */
function hidden(name: string): Tool {
  return { name, inputSchema: { type: "object", additionalProperties: true } };
}

function unknown(name: string, tools: Tool[], server: string): Failure {
  const names = tools.map((tool) => tool.name);
  return usage(`There is no tool "${name}". ${offers(tools, server)}`, nearest(name, names));
}

function offers(tools: Tool[], server: string): string {
  if (tools.length === 0) return `${visibleName(server)} offers no tools.`;
  return `${visibleName(server)} offers: ${visibleNames(tools.map((tool) => tool.name))}.`;
}

/** The text of a result, or else its structured content. */
function textOf(result: CallToolResult): string {
  if (result.content.length > 0) return result.content.map(describeBlock).join("\n");
  return result.structuredContent === undefined ? "" : JSON.stringify(result.structuredContent, null, 2);
}
