/** The calls in a provider's reply, in one shape; and a call's arguments as its server wants them. */

import { formatIssues, isObject, type JsonObject, parseJson } from "@patchbay/core";
import type { OfferedTool } from "./catalog.ts";
import type { ToolFormat } from "./formats.ts";
import { restoreArguments } from "./schema/restore.ts";

/** A call that a model asks for. */
export interface ToolCall {
  /** Its result is matched by it. */
  id: string;
  /** As the model calls the tool. */
  name: string;
  /** Missing when they were no JSON object: nothing may be called then. */
  args?: JsonObject;
}

/**
 * Reads the calls of a whole reply, in order; none where it asks for none. Nothing in it makes this throw.
 *
 * @param reply the body of the answer, or its message: OpenAI's and DeepSeek's `choices[0].message`, the Responses
 * API's response, Anthropic's message, Gemini's response or content, Ollama's response or message
 */
export function readCalls(format: ToolFormat, reply: unknown): ToolCall[] {
  const body = record(reply);
  switch (format) {
    case "anthropic":
      return records(body.content)
        .filter(({ type }) => type === "tool_use")
        .map((block) => call(block.id, block.name, block.input));
    case "openai-responses":
      return records(body.output)
        .filter(({ type }) => type === "function_call")
        .map((item) => call(item.call_id, item.name, item.arguments));
    case "gemini": {
      const content = record(records(body.candidates)[0]?.content ?? body.content ?? body);
      return records(content.parts)
        .filter((part) => isObject(part.functionCall))
        .map(({ functionCall }) => record(functionCall))
        .map(({ id, name, args }) => call(id, name, args ?? {}));
    }
    default: {
      const message = record(records(body.choices)[0]?.message ?? body.message ?? body);
      return records(message.tool_calls).map((each) => {
        const { name, arguments: args } = record(each.function);
        return call(each.id, name, args);
      });
    }
  }
}

function call(id: unknown, name: unknown, args: unknown): ToolCall {
  const known = {
    id: typeof id === "string" && id !== "" ? id : `call_${crypto.randomUUID()}`,
    name: typeof name === "string" ? name : "",
  };
  const read = readArguments(args);
  return read === undefined ? known : { ...known, args: read };
}

/** Arguments as an object, or as the text of one; no text is an object without members. */
function readArguments(args: unknown): JsonObject | undefined {
  if (isObject(args)) return args;
  if (args === undefined || (typeof args === "string" && args.trim() === "")) return {};
  if (typeof args !== "string") return undefined;
  try {
    const value = parseJson(args);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Characters: a schema may name any number of values that would be right. */
const MAX_PROBLEM = 2_000;

/** Arguments for the server, or what is wrong with those that the model gave. */
export type PreparedArguments = { args: JsonObject } | { problem: string };

/**
 * Writes a call's arguments as the server wants them, and checks them against the schema that the server gave. A
 * schema that cannot be compiled is left to the server.
 */
export async function prepareArguments(
  offered: Pick<OfferedTool, "tool" | "schema">,
  given: JsonObject,
): Promise<PreparedArguments> {
  const args = restoreArguments(offered.schema, given) as JsonObject;
  const { boundedSchema } = await import("@patchbay/client/schemas");
  try {
    const issues = boundedSchema(offered.tool.inputSchema)(args);
    if (issues === undefined) return { args };
    const problem = `the arguments do not fit the tool's input schema: ${formatIssues(issues)}`;
    return { problem: problem.length > MAX_PROBLEM ? `${problem.slice(0, MAX_PROBLEM)}…` : problem };
  } catch {
    return { args };
  }
}

function record(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(record) : [];
}
