/** The tools that a question is likeliest about, for people who have no model to pick one. */

import type { OfferedTool } from "../tools/catalog.ts";
import { describeParameters } from "./arguments.ts";

const SHOWN = 5;

/** Up to five tools, the likeliest first; when nothing matches, the first five there are. */
export async function likeliestTools(
  question: string,
  tools: readonly OfferedTool[],
): Promise<OfferedTool[]> {
  const { default: MiniSearch } = await import("minisearch");
  const index = new MiniSearch({ fields: ["name", "title", "description"] });
  index.addAll(
    tools.map(({ tool }, id) => ({
      id,
      name: tool.name.replace(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/gu, " "),
      title: tool.title ?? tool.annotations?.title ?? "",
      description: (tool.description ?? "").slice(0, 2_000),
    })),
  );
  const found = index.search(question.slice(0, 1000), {
    prefix: true,
    fuzzy: 0.2,
    boost: { name: 3, title: 2 },
  });
  const likeliest = found.map(({ id }) => tools[id] as OfferedTool);
  return (likeliest.length > 0 ? likeliest : tools).slice(0, SHOWN);
}

/** One line a tool: how to type it, and what it does. */
export function describeTools(tools: readonly OfferedTool[]): string {
  const forms = tools.map(({ name, tool }) => `${name}: ${describeParameters(tool.inputSchema)}`.trimEnd());
  const width = Math.min(Math.max(...forms.map((form) => form.length)), 48);
  return tools
    .map(({ tool }, index) => {
      const about = firstSentence(tool.description ?? tool.title ?? "");
      return `  ${(forms[index] as string).padEnd(width)}  ${about}`.trimEnd();
    })
    .join("\n");
}

function firstSentence(text: string): string {
  const sentence = /^.*?[.!?。](?=\s|$)|^.*/u.exec(text.slice(0, 1_000).trim())?.[0] ?? "";
  return sentence.length > 100 ? `${sentence.slice(0, 99)}…` : sentence;
}
