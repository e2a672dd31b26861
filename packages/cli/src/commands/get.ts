/** `get`: one prompt, filled in. */

import { nearest } from "@patchbay/core";
import { readTexts } from "../arguments.ts";
import { withServer } from "../connection.ts";
import { describeBlock } from "../content.ts";
import type { Context, ServerOptions } from "../context.ts";
import { usage } from "../failure.ts";
import { splitServer } from "../targets.ts";
import { visible, visibleName, visibleNames } from "../visible.ts";

export async function get(words: string[], options: ServerOptions, context: Context): Promise<void> {
  const [server, [name, ...pairs]] = splitServer(words, context);
  await withServer(server, options, context, async ({ client, target, request }) => {
    const { output } = context;
    const found = await client.listPrompts(request);
    const names = found.map((prompt) => prompt.name);
    const offers =
      names.length === 0
        ? `${visibleName(target.name)} offers no prompts.`
        : `${visibleName(target.name)} offers: ${visibleNames(names)}.`;
    if (name === undefined) throw usage(`Which prompt? ${offers}`);
    const prompt = found.find((candidate) => candidate.name === name);
    if (prompt === undefined) throw usage(`There is no prompt "${name}". ${offers}`, nearest(name, names));

    const takes = prompt.arguments ?? [];
    const required = takes.filter((argument) => argument.required).map((argument) => argument.name);
    const args = readTexts(
      pairs,
      takes.map((argument) => argument.name),
      required,
    );
    const result = await client.getPrompt(prompt.name, args, request);
    if (output.json) output.value(result);
    else {
      for (const { role, content } of result.messages) {
        output.styled(`${output.colors.bold(`${visibleName(role)}:`)} ${visible(describeBlock(content))}`);
      }
    }
  });
}
