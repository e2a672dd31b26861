/** What the parts of a conversation on the terminal have in common. */

import type { Conversation, Question } from "@patchbay/host";
import type { Agent } from "../agent.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import type { Steps } from "../steps.ts";
import { visibleName, visibleNames } from "../visible.ts";
import type { Offers } from "./offers.ts";

export interface Room {
  agent: Agent;
  conversation: Conversation;
  context: Context;
  steps: Steps;
  offers: Offers;
  /** Text for the reader: on stdout, or where that is for programs, on stderr. Safe already. */
  say: (text: string) => void;
}

/** What a line has come to: a question, or no more to do, or the end. */
export type Understood = { question: Question } | "done" | "leave";

/** @throws Failure (usage) that names the servers that there are */
export function clientOf(server: string, { agent }: Room) {
  const client = agent.clients.get(server);
  if (client !== undefined) return client;
  const names = visibleNames([...agent.clients.keys()]);
  throw usage(`There is no server "${visibleName(server)}" here. There is ${names}.`);
}
