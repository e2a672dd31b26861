/** A client of the database server, and what tests ask of it. */

import type { Client } from "@patchbay/client";
import type { CallToolResult } from "@patchbay/core";

export interface Answer {
  columns: { name: string; type: string | null }[];
  rows: unknown[][];
  truncated: boolean;
  notice?: string;
  changes?: number | null;
  lastInsertRowid?: number | string;
}

export function textOf({ content }: CallToolResult): string {
  const [block] = content;
  return block?.type === "text" ? block.text : "";
}

/** What a tool answers; a failure is thrown. */
export async function answerOf(client: Client, tool: string, args: Record<string, unknown>): Promise<Answer> {
  const result = await client.callTool(tool, args);
  if (result.isError) throw new Error(textOf(result));
  return result.structuredContent as unknown as Answer;
}

/** What a tool that fails says. */
export async function failureOf(
  client: Client,
  tool: string,
  args: Record<string, unknown>,
): Promise<string> {
  const result = await client.callTool(tool, args);
  if (!result.isError) throw new Error(`it did not fail: ${textOf(result)}`);
  return textOf(result);
}
