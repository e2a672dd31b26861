/** A result as JSON. Most results of tools are one text, which is written by hand: it takes a third of the time. */

import type { Result } from "../model/base.ts";

/** @param members more of them at the end, as JSON text: `"key":value,…` */
export function resultJson(result: Result, members = ""): string {
  const text = onlyText(result);
  if (text === undefined) return withMembers(JSON.stringify(result), members);
  const more = members === "" ? "" : `,${members}`;
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}]${more}}`;
}

/** An object's text with more members at its end: an answer is not written twice to say what kind it is. */
export function withMembers(text: string, members: string): string {
  if (members === "") return text;
  return text === "{}" ? `{${members}}` : `${text.slice(0, -1)},${members}}`;
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
