/** The exact forms that the rule planner acts on: `tool: args`, `tool {json}`, and plain arithmetic. */

import { isObject, nearest, parseJson } from "@patchbay/core";
import type { OfferedTool } from "../tools/catalog.ts";
import { readArguments } from "./arguments.ts";

export type Form =
  | { kind: "call"; tool: OfferedTool; arguments: Record<string, unknown> }
  /** The form was clear, but it cannot be run: `message` says why. */
  | { kind: "wrong"; message: string; tool?: OfferedTool }
  | { kind: "none" };

/** Characters; what is longer is not looked at. */
const MAX_QUESTION = 1_000_000;
/** Characters of arguments that are not JSON, and of arithmetic. */
const MAX_ARGUMENTS = 10_000;

/** Reads a question as one of the forms. */
export function readForm(question: string, tools: readonly OfferedTool[]): Form {
  const text = question.trim();
  if (text.length > MAX_QUESTION) {
    return { kind: "wrong", message: `The question is longer than ${MAX_QUESTION} characters.` };
  }
  return (
    readJsonForm(text, tools) ?? readColonForm(text, tools) ?? readArithmetic(text, tools) ?? { kind: "none" }
  );
}

/** `tool {json}` */
function readJsonForm(text: string, tools: readonly OfferedTool[]): Form | undefined {
  const form = /^([^\s{:]{1,256}):?\s*(\{.*\})$/s.exec(text);
  if (form === null) return undefined;
  const [, name = "", json = ""] = form;
  const tool = find(name, tools);
  if (tool === undefined) return unknownTool(name, tools);
  if ("kind" in tool) return tool;
  try {
    const value = parseJson(json);
    if (isObject(value)) return { kind: "call", tool, arguments: value };
  } catch (error) {
    const why = error instanceof Error ? error.message : "unreadable";
    return { kind: "wrong", tool, message: `What follows ${name} is not JSON: ${why}` };
  }
  return undefined;
}

/** `tool: args` */
function readColonForm(text: string, tools: readonly OfferedTool[]): Form | undefined {
  const form = /^([^\s:]{1,256})\s*:(?!\/\/)\s*(.*)$/s.exec(text);
  if (form === null) return undefined;
  const [, name = "", rest = ""] = form;
  const tool = find(name, tools);
  if (tool === undefined) return unknownTool(name, tools);
  if ("kind" in tool) return tool;
  if (rest.length > MAX_ARGUMENTS) {
    const message = `${name}: more than ${MAX_ARGUMENTS} characters of arguments; write them as ${name} {json}.`;
    return { kind: "wrong", tool, message };
  }
  const read = readArguments(rest, tool.tool.inputSchema);
  return "problem" in read
    ? { kind: "wrong", tool, message: `${name}: ${read.problem}` }
    : { kind: "call", tool, arguments: read.arguments };
}

const NUMBER = String.raw`(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`;
const WORD = String.raw`\b(?:pi|e|tau|(?:sqrt|cbrt|exp|log|log2|log10|ln|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|abs|round|floor|ceil|min|max|pow|factorial)(?=\s*\())\b`;
const TOKENS = new RegExp(String.raw`${NUMBER}|${WORD}|[-+*/%^(),\s]`, "g");

/** An expression and nothing else; a bare number asks nothing. `=` or `=?` at the end is dropped. */
function readArithmetic(text: string, tools: readonly OfferedTool[]): Form | undefined {
  if (text.length > MAX_ARGUMENTS) return undefined;
  const expression = text.replace(/\s*=\s*\??$/, "");
  if (expression.replace(TOKENS, "") !== "") return undefined;
  if (!/\d/.test(expression) || !/[-+*/%^(]/.test(expression.replace(/^\s*[-+]/, ""))) return undefined;
  if (/^\d{4}-\d{1,2}-\d{1,2}$/.test(expression)) return undefined;
  const calculators = tools.filter(({ tool }) => takesExpression(tool.inputSchema));
  const tool = calculators.find((each) => each.tool.name === "calculator") ?? calculators[0];
  if (tool === undefined)
    return { kind: "wrong", message: "No connected tool is a calculator (expression)." };
  return { kind: "call", tool, arguments: { expression } };
}

/** A calculator is a tool that wants one text, `expression`, and nothing else. */
function takesExpression(schema: OfferedTool["tool"]["inputSchema"]): boolean {
  const { properties, required } = schema;
  if (!isObject(properties) || !isObject(properties.expression)) return false;
  const wanted = Array.isArray(required) ? required : Object.keys(properties);
  return wanted.length === 1 && wanted[0] === "expression" && properties.expression.type === "string";
}

/** The tool of that name: as its server names it, as the model would, or `server/tool`. */
function find(name: string, tools: readonly OfferedTool[]): OfferedTool | Form | undefined {
  const exact = tools.find((each) => each.name === name || `${each.server}/${each.tool.name}` === name);
  if (exact !== undefined) return exact;
  const named = tools.filter(({ tool }) => tool.name === name);
  if (named.length <= 1) return named[0];
  const ways = named.map((each) => `${each.server}/${each.tool.name}`).join(", ");
  return { kind: "wrong", message: `Several servers have a tool "${name}": say which by ${ways}.` };
}

/** A word before the colon that is nearly a tool's name is taken for a slip; any other is no form at all. */
function unknownTool(name: string, tools: readonly OfferedTool[]): Form | undefined {
  const meant = nearest(
    name,
    tools.map(({ tool }) => tool.name),
  );
  if (meant === undefined) return undefined;
  return { kind: "wrong", message: `There is no tool "${name}". Did you mean "${meant}"?` };
}
