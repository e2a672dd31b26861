/** What a handler of a tool gave, or threw, as the result that its client is told (server/tools § Tool Result). */

import {
  type CallToolResult,
  type Checked,
  type ContentBlock,
  formatIssues,
  isObject,
  metaFault,
  type PreparedSchema,
} from "@patchbay/core";
import { blockFault, isBlock } from "./content.ts";
import type { ReportError, ToolEntry } from "./tools.ts";

export function toResult(
  given: unknown,
  tool: ToolEntry,
  report: ReportError,
): CallToolResult | Promise<CallToolResult> {
  if (typeof given === "string" && tool.output === undefined)
    return { content: [{ type: "text", text: given }] };
  if (isCallToolResult(given)) {
    const fault = resultFault(given);
    if (fault !== undefined) return malformed(fault, tool, report);
    if (tool.output === undefined || given.isError === true) return given;
    return structured(given.structuredContent, tool, report, given);
  }
  if (tool.output !== undefined) return structured(given, tool, report);
  if (given === undefined || given === null) return { content: [] };
  if (isObject(given) && Array.isArray(given.content)) return malformed(INCOMPLETE, tool, report);
  const blocks = Array.isArray(given) ? given : [given];
  if (blocks.every(isBlock)) {
    const result = { content: blocks };
    const fault = resultFault(result);
    return fault === undefined ? result : malformed(fault, tool, report);
  }
  if (Array.isArray(given) && given.some(isObject)) return malformed(INCOMPLETE, tool, report);
  const content: ContentBlock[] = [{ type: "text", text: JSON.stringify(given) }];
  return isObject(given) ? { content, structuredContent: given } : { content };
}

const INCOMPLETE =
  'a block of content lacks what its type needs, such as "mimeType" beside an image\'s "data"';

/** What the handler gave is a result, or looks like one, and may not be sent. */
function malformed(what: string, { definition: { name } }: ToolEntry, report: ReportError): CallToolResult {
  report(new Error(`what it gave is not valid: ${what}`), name);
  return failure(`${name} failed: it gave a result that is not valid`);
}

function resultFault({ _meta, content }: CallToolResult): string | undefined {
  if (_meta !== undefined) {
    const fault = metaFault(_meta);
    if (fault !== undefined) return fault;
  }
  for (const block of content) {
    const fault = blockFault(block);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** A result whose structured content is known to fit the tool's output schema. */
function structured(
  value: unknown,
  tool: ToolEntry,
  report: ReportError,
  result?: CallToolResult,
): CallToolResult | Promise<CallToolResult> {
  const checked = (tool.output as PreparedSchema).check(value);
  return checked instanceof Promise
    ? checked.then((later) => fitting(later, tool, report, result))
    : fitting(checked, tool, report, result);
}

function fitting(
  checked: Checked,
  { definition: { name } }: ToolEntry,
  report: ReportError,
  result: CallToolResult | undefined,
): CallToolResult {
  if (checked.issues !== undefined) {
    report(new Error(`what it gave does not fit its output schema: ${formatIssues(checked.issues)}`), name);
    return failure(`${name} failed: it gave a result that does not fit its output schema`);
  }
  if (result !== undefined) return { ...result, structuredContent: checked.value };
  return {
    content: [{ type: "text", text: JSON.stringify(checked.value) }],
    structuredContent: checked.value,
  };
}

function isCallToolResult(value: unknown): value is CallToolResult {
  return isObject(value) && Array.isArray(value.content) && value.content.every(isBlock);
}

/** What the model is told of a call that failed. */
export function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

const BUGS = [TypeError, ReferenceError, RangeError, SyntaxError, EvalError];

/**
 * What may be told of a failure. An error that was thrown on purpose speaks for itself; a bug's or the
 * system's message may hold paths and internals, and stays in the server's log.
 */
export function explain(thrown: unknown, name: string): { message: string; expected: boolean } {
  const deliberate =
    thrown instanceof Error &&
    !BUGS.some((bug) => thrown instanceof bug) &&
    !("syscall" in thrown) &&
    thrown.message;
  if (deliberate) return { message: thrown.message, expected: true };
  return { message: `${name} failed: an internal error; the server's log says more`, expected: false };
}
