/** `/server:prompt key=value …`: a prompt of a server is filled in, and asked. */

import { nearest, type Prompt, type PromptArgument } from "@patchbay/core";
import type { AskedMessage } from "@patchbay/host";
import { describeBlock } from "../content.ts";
import { canAsk, dialog } from "../dialog.ts";
import { failed, usage } from "../failure.ts";
import { visible, visibleLine, visibleName, visibleNames } from "../visible.ts";
import { clean } from "./offers.ts";
import { clientOf, type Room, type Understood } from "./room.ts";
import { splitWords } from "./words.ts";

const MAX_SHOWN = 400;

/** A prompt by the name that is typed after the slash; a name that one server alone has needs no server. */
export interface Addressed {
  server: string;
  prompt: Prompt;
}

/** @throws Failure (usage) where several servers have it */
export async function findPrompt(
  name: string,
  { offers }: Room,
  signal: AbortSignal,
): Promise<Addressed | undefined> {
  const found: Addressed[] = [];
  for (const server of offers.servers) {
    const ofServer = name.startsWith(`${server}:`) ? name.slice(server.length + 1) : name;
    for (const prompt of await offers.prompts(server, signal))
      if (prompt.name === ofServer) found.push({ server, prompt });
  }
  const exact = found.filter(({ server, prompt }) => name === `${server}:${prompt.name}`);
  const fitting = exact.length > 0 ? exact : found;
  if (fitting.length > 1) {
    const names = fitting.map(({ server }) => `/${server}:${name}`);
    throw usage(`Several servers have the prompt "${visibleName(name)}": ${visibleNames(names)}.`);
  }
  return fitting[0];
}

/** Fills the prompt in. What is missing is asked for on a terminal, where Tab completes. */
export async function usePrompt(
  { server, prompt }: Addressed,
  rest: string,
  room: Room,
  signal: AbortSignal,
): Promise<Understood> {
  const client = clientOf(server, room);
  const given = readPromptArguments(rest, prompt.arguments ?? []);
  const args = await askForMissing({ server, prompt }, given, room, signal);
  if (args === undefined) return "done";
  const { messages } = await client.getPrompt(prompt.name, args, { signal });
  if (messages.length === 0) throw failed(`The prompt "${visibleName(prompt.name)}" is empty.`);
  for (const { role, content } of messages)
    room.context.output.note(`${visibleName(role)}: ${shortened(visible(describeBlock(content)))}`);
  const question = messages.map(
    ({ role, content }): AskedMessage => ({ role, content: [content], server, name: prompt.name }),
  );
  return { question };
}

/**
 * `key=value` by name; other words in the order of the arguments that are left, and all of them for the last.
 *
 * @throws Failure (usage)
 */
export function readPromptArguments(text: string, takes: readonly PromptArgument[]): Record<string, string> {
  const names = takes.map(({ name }) => name);
  const given = new Map<string, string>();
  const loose: string[] = [];
  for (const word of splitWords(text)) {
    const [, key = "", value = ""] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (names.includes(key)) given.set(key, value);
    else loose.push(word);
  }
  const left = names.filter((name) => !given.has(name));
  if (loose.length > 0 && left.length === 0) {
    const hint = names.length === 0 ? "It takes no arguments." : `It takes ${visibleNames(names)}.`;
    const [key = ""] = (loose[0] ?? "").split("=");
    throw usage(`"${visibleName(loose[0] ?? "")}" is one word too many. ${hint}`, nearest(key, names));
  }
  for (const [index, name] of left.entries()) {
    const words = index === left.length - 1 ? loose.splice(0) : loose.splice(0, 1);
    if (words.length > 0) given.set(name, words.join(" "));
  }
  return Object.fromEntries(given);
}

async function askForMissing(
  { server, prompt }: Addressed,
  given: Record<string, string>,
  { agent, offers, context }: Room,
  signal: AbortSignal,
): Promise<Record<string, string> | undefined> {
  const missing = (prompt.arguments ?? []).filter(
    ({ name, required }) => required === true && given[name] === undefined,
  );
  if (missing.length === 0) return given;
  if (!canAsk() || context.output.json)
    throw usage(`Missing: ${missing.map(({ name }) => `${visibleName(name)}=<text>`).join(" ")}.`);
  return agent.activity.whileAsking(() =>
    dialog<Record<string, string> | undefined>(signal, undefined, async (ask) => {
      const args = { ...given };
      for (const { name, description } of missing) {
        const about = description === undefined ? "" : ` – ${visibleLine(description)}`;
        const complete = async (line: string): Promise<[string[], string]> => {
          const values = await offers.values(server, {
            ref: { type: "ref/prompt", name: prompt.name },
            argument: { name, value: line },
            context: { arguments: args },
          });
          return [clean(values), line];
        };
        let typed = "";
        while (typed === "") typed = (await ask(`  ${visibleName(name)}${about}: `, complete)).trim();
        args[name] = typed;
      }
      return args;
    }),
  );
}

function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
