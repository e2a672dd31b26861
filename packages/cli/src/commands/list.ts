/** `tools`, `resources`, `prompts`: what a server offers. */

import type { Prompt, Resource, ResourceTemplate, Tool } from "@patchbay/core";
import { signature } from "../arguments.ts";
import { withServer } from "../connection.ts";
import type { Context, ServerOptions } from "../context.ts";
import type { Output } from "../output.ts";
import { visible, visibleLine, visibleName } from "../visible.ts";

export async function tools(
  name: string | undefined,
  options: ServerOptions,
  context: Context,
): Promise<void> {
  await withServer(name, options, context, async ({ client, target, request }) => {
    const { output } = context;
    const found = await client.listTools(request);
    if (output.json) output.value({ tools: found });
    else if (found.length === 0) output.note(`${visibleName(target.name)} offers no tools.`);
    else for (const tool of found) showTool(tool, output);
  });
}

export async function resources(
  name: string | undefined,
  options: ServerOptions,
  context: Context,
): Promise<void> {
  await withServer(name, options, context, async ({ client, target, request }) => {
    const { output } = context;
    const [found, templates] = await Promise.all([
      client.listResources(request),
      client.listResourceTemplates(request),
    ]);
    if (output.json) output.value({ resources: found, resourceTemplates: templates });
    else if (found.length + templates.length === 0)
      output.note(`${visibleName(target.name)} offers no resources.`);
    else {
      for (const resource of found) showResource(resource.uri, resource, output);
      for (const template of templates) showResource(template.uriTemplate, template, output);
    }
  });
}

export async function prompts(
  name: string | undefined,
  options: ServerOptions,
  context: Context,
): Promise<void> {
  await withServer(name, options, context, async ({ client, target, request }) => {
    const { output } = context;
    const found = await client.listPrompts(request);
    if (output.json) output.value({ prompts: found });
    else if (found.length === 0) output.note(`${visibleName(target.name)} offers no prompts.`);
    else for (const prompt of found) showPrompt(prompt, output);
  });
}

function showTool(tool: Tool, output: Output): void {
  showEntry(tool.name, signature(tool.inputSchema), tool.description ?? tool.title, output);
}

function showResource(uri: string, resource: Resource | ResourceTemplate, output: Output): void {
  const about = [resource.title ?? resource.name, resource.mimeType].filter(Boolean).join(", ");
  showEntry(uri, about, resource.description, output);
}

function showPrompt(prompt: Prompt, output: Output): void {
  const takes = (prompt.arguments ?? []).map(({ name, required }) =>
    required ? `${visibleName(name)}=<text>` : `[${visibleName(name)}=<text>]`,
  );
  showEntry(prompt.name, takes.join(" "), prompt.description ?? prompt.title, output);
}

/** A name, what goes with it, and below it what it is for. */
function showEntry(name: string, about: string, description: string | undefined, output: Output): void {
  const { bold, dim } = output.colors;
  output.styled(`${bold(visibleName(name))}${about === "" ? "" : ` ${visibleLine(about)}`}`);
  if (description === undefined) return;
  for (const line of visible(description).trim().split("\n")) output.styled(`  ${dim(line)}`);
}
