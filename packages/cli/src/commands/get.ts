/** `get`: one prompt, filled in. */

import { nearest } from "@patchbay/core";
import { readTexts } from "../arguments.ts";
import { withServer } from "../connection.ts";
import { describeBlock } from "../content.ts";
import type { Context, ServerOptions } from "../context.ts";
import { usage } from "../failure.ts";
import { visible } from "../visible.ts";
import { listPrompts } from "./list.ts";

export async function get(words: string[], options: ServerOptions, context: Context): Promise<void> {
  const [server, name, ...pairs] = context.command === undefined ? words : [undefined, ...words];
  await withServer(server, options, context, async ({ target, ...connection }) => {
    const { output } = context;
    const found = await listPrompts(connection);
    const names = found.map((prompt) => prompt.name);
    const offers =
      names.length === 0 ? `${target.name} offers no prompts.` : `${target.name} offers: ${names.join(", ")}.`;
    if (name === undefined) throw usage(`Which prompt? ${offers}`);
    const prompt = found.find((candidate) => candidate.name === name);
    if (prompt === undefined) throw usage(`There is no prompt "${name}". ${offers}`, nearest(name, names));

    const takes = prompt.arguments ?? [];
    const required = takes.filter((argument) => argument.required).map((argument) => argument.name);
    const args = readTexts(pairs, takes.map((argument) => argument.name), required);
    const result = await connection.client.getPrompt(prompt.name, args, connection.request);
    if (output.json) output.value(result);
    else {
      for (const { role, content } of result.messages) {
        output.styled(`${output.colors.bold(`${visible(role)}:`)} ${visible(describeBlock(content))}`);
      }
    }
  });
}
