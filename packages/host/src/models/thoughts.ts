/**
 * DeepSeek's thoughts go back with the calls that they led to: in thinking mode it refuses a call without its
 * `reasoning_content`. The LangChain package reads them and does not send them, so they travel as a block of the
 * message's content, which the package leaves alone, and are put in their place as the request goes out.
 */

import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { isObject } from "@patchbay/core";

const BLOCK = "patchbay_thoughts";

/** Puts the thoughts of a message that asks for tools into its content. */
export function rememberThoughts(message: BaseMessage): BaseMessage {
  if (!AIMessage.isInstance(message) || (message.tool_calls ?? []).length === 0) return message;
  const { reasoning_content: thoughts } = message.additional_kwargs;
  if (typeof thoughts !== "string" || thoughts === "") return message;
  const { tool_calls, additional_kwargs, response_metadata } = message;
  const content = [
    { type: BLOCK, thoughts },
    { type: "text", text: message.text },
  ];
  return new AIMessage({ content, additional_kwargs, response_metadata, ...(tool_calls && { tool_calls }) });
}

/** `fetch`, with thoughts in their place. */
export const fetchWithThoughts: typeof fetch = (input, init) => {
  if (typeof init?.body !== "string" || !init.body.includes(BLOCK)) return fetch(input, init);
  const body: unknown = JSON.parse(init.body);
  if (!isObject(body) || !Array.isArray(body.messages)) return fetch(input, init);
  return fetch(input, { ...init, body: JSON.stringify({ ...body, messages: body.messages.map(placed) }) });
};

function placed(message: unknown): unknown {
  if (!isObject(message) || !Array.isArray(message.content)) return message;
  const [first, ...rest] = message.content;
  if (!isObject(first) || first.type !== BLOCK) return message;
  const text = rest.map((block) => (isObject(block) ? String(block.text ?? "") : "")).join("");
  return { ...message, content: text, reasoning_content: first.thoughts };
}
