/** The rule planner: no AI model, but a part of the same loop; it runs a tool for an exact form, and only then. */

import type { ToolMessage } from "@langchain/core/messages";
import type { Model, ModelReply, ModelRequest } from "../models/model.ts";
import type { OfferedTool } from "../tools/catalog.ts";
import { type Form, readForm } from "./forms.ts";
import { describeTools, likeliestTools } from "./suggest.ts";

/** How the rule planner is named in all output. */
export const RULE_PLANNER = "rule planner (not an AI model)";

const HOW_TO_GET_A_MODEL =
  "For a model that understands questions, set OPENAI_API_KEY, ANTHROPIC_API_KEY or DEEPSEEK_API_KEY, " +
  "or start a local one (Ollama, LM Studio, llama.cpp).";

/** Makes the planner. It answers with what a tool returned, or says what it can run; it makes nothing up. */
export function rulePlanner(): Model {
  return { provider: "rules", name: "rules", label: RULE_PLANNER, reply };
}

async function reply({ messages, tools, onText }: ModelRequest): Promise<ModelReply> {
  const { AIMessage, ToolMessage } = await import("@langchain/core/messages");
  const last = messages.at(-1);
  const say = (text: string, ok: boolean): ModelReply => {
    onText(text);
    return { message: new AIMessage(text), ok };
  };
  if (ToolMessage.isInstance(last)) return say(last.text, (last as ToolMessage).status !== "error");
  const question = last?.text ?? "";
  const form = readForm(question, tools);
  if (form.kind === "call") {
    const call = { type: "tool_call" as const, id: `call_${crypto.randomUUID()}`, name: form.tool.name };
    return {
      message: new AIMessage({ content: "", tool_calls: [{ ...call, args: form.arguments }] }),
      ok: true,
    };
  }
  return say(await refusal(question, form, tools), false);
}

async function refusal(
  question: string,
  form: Exclude<Form, { kind: "call" }>,
  tools: readonly OfferedTool[],
): Promise<string> {
  if (tools.length === 0)
    return `The ${RULE_PLANNER} has no tools: no connected server offers any.\n\n${HOW_TO_GET_A_MODEL}`;
  const about = form.kind === "wrong" ? form.tool : undefined;
  const shown = about === undefined ? await likeliestTools(question, tools) : [about];
  return [
    form.kind === "wrong"
      ? form.message
      : `The ${RULE_PLANNER} runs a tool for an exact form only: \`tool: arguments\`, \`tool {json}\`, or plain arithmetic.`,
    `${about === undefined ? "The likeliest tools" : "How to call it"}:\n${describeTools(shown)}`,
    HOW_TO_GET_A_MODEL,
  ].join("\n\n");
}
