/** What a user asks, with what servers add to it (prompts, resources) → the messages that begin a turn. */

import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { ContentBlock, Role } from "@patchbay/core";
import type { ProviderName } from "./settings.ts";
import { type ModelImage, readResult } from "./tools/result.ts";
import { delimit, invisibleNote } from "./tools/untrusted.ts";

/** One message of a question. */
export interface AskedMessage {
  role: Role;
  content: readonly ContentBlock[];
  /** The server that it comes from: a prompt, a resource. Missing for what the user wrote. */
  server?: string;
  /** What it is there, as the user knows it: `file:///notes.md`, `review`. */
  name?: string;
}

/** A text, or messages as MCP has them, in order; the last should be the user's. */
export type Question = string | readonly AskedMessage[];

/** Who takes images in what a user says. */
const SEES: readonly ProviderName[] = ["openai", "anthropic", "gemini", "ollama"];

export interface AskedTurn {
  messages: BaseMessage[];
  /** What first brought content from outside into the conversation. */
  untrusted?: string;
}

/**
 * Reads a question. A server's texts are cut at `maxCharacters`; its resources are delimited, as results of tools are. All
 * that comes from a server counts as content from outside. What one role says in a row is one message.
 */
export function readQuestion(question: Question, provider: ProviderName, maxCharacters: number): AskedTurn {
  if (typeof question === "string") return { messages: [new HumanMessage(question)] };
  const said: Said[] = [];
  for (const message of question) {
    const now = readMessage(message, maxCharacters);
    const before = said.at(-1);
    if (before?.role !== now.role) said.push(now);
    else {
      before.texts.push(...now.texts);
      before.images.push(...now.images);
    }
  }
  const first = question.find(({ server }) => server !== undefined);
  return {
    messages: said.map((each) => messageOf(each, SEES.includes(provider))),
    ...(first !== undefined && { untrusted: [first.server, first.name].filter(Boolean).join("/") }),
  };
}

interface Said {
  role: Role;
  texts: string[];
  images: ModelImage[];
}

function readMessage({ role, content, server }: AskedMessage, maxCharacters: number): Said {
  const images: ModelImage[] = [];
  const texts = content.map((block) => {
    if (server === undefined && block.type === "text") return block.text;
    const read = readResult({ content: [block] });
    images.push(...read.images);
    const cut = cutTo(read.text, maxCharacters);
    const whole = [cut, invisibleNote(cut)].filter(Boolean).join("\n");
    // A prompt's own words are what the user chose to say; what it quotes is not.
    return server !== undefined && block.type !== "text" ? delimit(whole, server) : whole;
  });
  return { role, texts: texts.filter((text) => text !== ""), images };
}

function messageOf({ role, texts, images }: Said, sees: boolean): BaseMessage {
  const text = texts.join("\n\n");
  if (role === "assistant") return new AIMessage(text);
  if (images.length === 0 || !sees) return new HumanMessage(text);
  return new HumanMessage({
    content: [
      { type: "text", text },
      ...images.map(({ mimeType, data }) => ({
        type: "image_url" as const,
        image_url: { url: `data:${mimeType};base64,${data}` },
      })),
    ],
  });
}

function cutTo(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, maxCharacters)}\n[cut here: the first ${maxCharacters} of ${text.length} characters (maxResultCharacters)]`;
}
