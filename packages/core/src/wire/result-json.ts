/** A result as JSON. Most results of tools are one text, which is written by hand: it takes a third of the time. */

import type { Result } from "../model/base.ts";

export function resultJson(result: Result): string {
  const text = onlyText(result);
  return text === undefined
    ? JSON.stringify(result)
    : `{"content":[{"type":"text","text":${JSON.stringify(text)}}]}`;
}

/** The text of a result that has nothing else: no other member, block or annotation. */
function onlyText(result: Result): string | undefined {
  const { content } = result;
  if (!Array.isArray(content) || content.length !== 1 || Object.keys(result).length !== 1) return undefined;
  const block: unknown = content[0];
  if (typeof block !== "object" || block === null || Object.keys(block).length !== 2) return undefined;
  const { type, text } = block as { type?: unknown; text?: unknown };
  return type === "text" && typeof text === "string" ? text : undefined;
}
