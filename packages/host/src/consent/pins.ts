/** A server and its tools as they were approved, and what has changed since. */

import { createHash } from "node:crypto";
import { canonicalJson, type Tool } from "@patchbay/core";
import type { ToolChange } from "./approvals.ts";
import { addedLines, diffLines } from "./diff.ts";
import type { ServerIdentity } from "./identity.ts";
import type { PinnedTool, TrustedServer } from "./trust.ts";

/** Characters of one definition that are kept to show what changed. */
const MAX_DEFINITION = 32_000;

/** Pins a tool as it is now. */
export function pinOf(tool: Tool): PinnedTool {
  const hash = hashOf(tool);
  const definition = definitionOf(tool);
  return definition.length > MAX_DEFINITION ? { hash } : { hash, definition };
}

/** The tools that are not as they were pinned. One that is gone is no change: it can do nothing. */
export function toolChanges(
  pinned: NonNullable<TrustedServer["tools"]>,
  tools: readonly Tool[],
): ToolChange[] {
  return tools.flatMap((tool): ToolChange[] => {
    const before = Object.hasOwn(pinned, tool.name) ? pinned[tool.name] : undefined;
    if (before?.hash === hashOf(tool)) return [];
    const now = definitionOf(tool);
    if (before === undefined) return [{ tool: tool.name, change: "new", diff: addedLines(now) }];
    const diff = before.definition === undefined ? addedLines(now) : diffLines(before.definition, now);
    return [{ tool: tool.name, change: "changed", diff }];
  });
}

/** What has changed of a server itself; empty when nothing has. */
export function identityDiff(before: ServerIdentity, now: ServerIdentity): string {
  return diffLines(identityText(before), identityText(now));
}

const hashes = new WeakMap<Tool, string>();

/** SHA-256 of what is pinned of a tool; worked out once for as long as its listing is used again. */
export function hashOf(tool: Tool): string {
  const known = hashes.get(tool);
  if (known !== undefined) return known;
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const text = canonicalJson({ name, title, description, inputSchema, outputSchema, annotations });
  const hash = createHash("sha256").update(text).digest("hex");
  hashes.set(tool, hash);
  return hash;
}

function definitionOf({ title, description, inputSchema, outputSchema, annotations }: Tool): string {
  const parts = { title, description, annotations, inputSchema, outputSchema };
  return Object.entries(parts)
    .filter(([, part]) => part !== undefined)
    .map(([name, part]) => `${name}: ${typeof part === "string" ? part : sorted(part)}`)
    .join("\n");
}

function sorted(value: unknown): string {
  return JSON.stringify(JSON.parse(canonicalJson(value)), null, 2);
}

function identityText({ command, args, cwd, env, url, headers, digest }: ServerIdentity): string {
  const lines = [
    ...(command === undefined ? [] : [`command: ${command}`]),
    ...(args ?? []).map((argument) => `argument: ${argument}`),
    ...(cwd === undefined ? [] : [`folder: ${cwd}`]),
    ...[...(env ?? [])].sort().map((name) => `variable: ${name}`),
    ...(url === undefined ? [] : [`url: ${url}`]),
    ...[...(headers ?? [])].sort().map((name) => `header: ${name}`),
    ...(digest === undefined ? [] : [`digest, with all values: ${digest}`]),
  ];
  // A line break in an argument is no new line here.
  return lines.map((line) => line.replaceAll("\n", "\\n")).join("\n");
}
