/** `chat`: questions and answers in one context, until `exit`. */

import { mkdirSync } from "node:fs";
import type { AskOptions, Conversation } from "@patchbay/host";
import { type AgentOptions, conversationsFolder, openAgent } from "../agent.ts";
import { runCommand } from "../chat/commands.ts";
import { completerOf } from "../chat/completion.ts";
import { pipedLines, typedLines } from "../chat/lines.ts";
import { Offers } from "../chat/offers.ts";
import { withResources } from "../chat/resources.ts";
import type { Room, Understood } from "../chat/room.ts";
import type { Context } from "../context.ts";
import { toFailure, usage } from "../failure.ts";
import { Steps } from "../steps.ts";
import { visible, visibleName, visibleNames } from "../visible.ts";

export interface ChatOptions extends AgentOptions {
  /** The id of a conversation; true for the last one. */
  resume?: string | true;
}

export async function chat(options: ChatOptions, context: Context): Promise<void> {
  const { output, signal } = context;
  const agent = await openAgent(options, context);
  const { host, clients, conversations } = agent;
  try {
    const kept = (process.stdin.isTTY === true || options.resume !== undefined) && isWritable(context);
    const id = options.resume === true ? (await conversations.list())[0]?.id : options.resume;
    if (options.resume !== undefined && id === undefined)
      throw usage("There is no conversation to go on with.");
    if (id !== undefined && (await conversations.load(id)) === undefined)
      throw usage(`There is no conversation "${visibleName(id)}".`);
    const conversation = host.conversation(kept ? { ...(id !== undefined && { id }) } : { keep: false });
    output.note(
      `${agent.model.label}, with the tools of ${visibleNames([...clients.keys()])}. /help shows what there is; exit, quit or Ctrl-D ends.`,
    );
    const speaker = `${output.colors.green("assistant >")} `;
    await converse({
      agent,
      conversation,
      context,
      steps: new Steps(output, { speaker, model: agent.model.label }),
      offers: new Offers(clients),
      say: (text) => (output.json ? output.message(text) : output.styled(text)),
    });
    if (kept && process.stdin.isTTY)
      output.note(`patchbay chat --resume ${conversation.id} goes on with this.`);
    signal.throwIfAborted();
  } finally {
    await host.close();
  }
}

/** Whether conversations can be kept; if not, that is told, and they are not. */
function isWritable({ output }: Context): boolean {
  try {
    mkdirSync(conversationsFolder(), { recursive: true, mode: 0o700 });
    return true;
  } catch (thrown) {
    const { code = "" } = thrown as NodeJS.ErrnoException;
    output.warn(`${conversationsFolder()} cannot be made (${code}): this conversation is not kept.`);
    return false;
  }
}

async function converse(room: Room): Promise<void> {
  const { conversation, context, offers } = room;
  const { recording } = room.agent;
  const { output, signal } = context;
  const user = `${output.colors.cyan("user >")} `;
  const interactive = process.stdin.isTTY === true;
  const turns = new Interruptible(room, interactive);
  if (await conversation.isWaiting()) {
    output.note("The last turn was not over; it goes on.");
    await turns.run((stop) => turn("", (options) => conversation.resume(options), room, stop));
  }
  const typed = () =>
    typedLines(
      {
        prompt: user,
        complete: completerOf(offers),
        ahead: () => room.agent.activity.takeAhead(),
        ...turns.atThePrompt,
      },
      context,
    );
  for await (const line of interactive ? typed() : pipedLines(context)) {
    if (signal.aborted || ["exit", "quit"].includes(line.trim())) return;
    if (line.trim() === "") continue;
    if (!interactive && !output.json) output.styled(`${user}${visible(line.trim())}`);
    let left = false;
    await turns.run(async (stop) => {
      const understood = await understand(line, room, stop);
      left = understood === "leave";
      if (typeof understood === "string") return;
      const { question } = understood;
      const asked = ({ onEvent = () => {}, ...options }: AskOptions) =>
        recording.turn(question, onEvent, (both) =>
          conversation.ask(question, { ...options, onEvent: both }),
        );
      await turn(line.trim(), asked, room, stop);
    });
    if (left || signal.aborted) return;
  }
  // Ctrl-C and Ctrl-D leave the cursor behind the prompt.
  if (interactive) output.styled("");
}

async function understand(line: string, room: Room, signal: AbortSignal): Promise<Understood> {
  if (line.startsWith("/")) return runCommand(line, room, signal);
  return { question: await withResources(line.trim(), room, signal) };
}

/** Work that Ctrl-C stops, and the conversation goes on; a second one ends it. */
class Interruptible {
  readonly #room: Room;
  readonly #interactive: boolean;
  /** The last thing that the user did was Ctrl-C. */
  #isArmed = false;

  constructor(room: Room, interactive: boolean) {
    this.#room = room;
    this.#interactive = interactive;
  }

  readonly atThePrompt = {
    onInterrupt: (): boolean => {
      if (this.#isArmed) return true;
      this.#isArmed = true;
      process.stdout.write("\n");
      this.#room.context.output.note("Ctrl-C again ends the conversation; so do exit and Ctrl-D.");
      return false;
    },
    onTyped: (): void => {
      this.#isArmed = false;
    },
  };

  /** What goes wrong is told, and the next may be asked. */
  async run(work: (stop: AbortSignal) => Promise<void>): Promise<void> {
    const { agent, context, steps } = this.#room;
    const stop = new AbortController();
    this.#isArmed = false;
    const unhear = context.interrupts.hear(() => {
      if (!this.#interactive || stop.signal.aborted) return false;
      stop.abort(new Error("Stopped."));
      return true;
    });
    try {
      const signal = AbortSignal.any([context.signal, stop.signal]);
      await agent.activity.during(steps.happening, () => work(signal));
    } catch (thrown) {
      steps.endLine();
      context.signal.throwIfAborted();
      if (!stop.signal.aborted) context.output.failure(toFailure(thrown));
    } finally {
      unhear();
    }
    if (!stop.signal.aborted) return;
    this.#isArmed = true;
    context.output.note("Stopped. Ctrl-C again ends the conversation.");
  }
}

/** One question, answered. */
async function turn(
  question: string,
  work: (options: AskOptions) => ReturnType<Conversation["resume"]>,
  { context, steps }: Room,
  signal: AbortSignal,
): Promise<void> {
  const { output } = context;
  steps.begin();
  const answer = await work({ signal, onEvent: steps.onEvent });
  if (answer === undefined) return;
  const { text, ok, model, ...figures } = answer;
  if (output.json) output.value({ question, answer: text, ok, model, steps: steps.taken, ...figures });
  else steps.answer(text);
}
