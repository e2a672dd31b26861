/** `chat`: questions and answers in one context, until `exit`. */

import { mkdirSync } from "node:fs";
import { createInterface } from "node:readline";
import type { AskOptions, Conversation } from "@patchbay/host";
import { type Agent, type AgentOptions, conversationsFolder, openAgent } from "../agent.ts";
import type { Context } from "../context.ts";
import { toFailure, usage } from "../failure.ts";
import { Steps } from "../steps.ts";
import { visibleName, visibleNames } from "../visible.ts";

export interface ChatOptions extends AgentOptions {
  /** The id of a conversation; true for the last one. */
  resume?: string | true;
}

/** Lines that are remembered for the arrow keys. */
const HISTORY = 100;

export async function chat(options: ChatOptions, context: Context): Promise<void> {
  const { output, signal } = context;
  const agent = await openAgent(options, context);
  const { host, servers, conversations } = agent;
  try {
    const kept = (process.stdin.isTTY === true || options.resume !== undefined) && isWritable(context);
    const id = options.resume === true ? (await conversations.list())[0]?.id : options.resume;
    if (options.resume !== undefined && id === undefined)
      throw usage("There is no conversation to go on with.");
    if (id !== undefined && (await conversations.load(id)) === undefined)
      throw usage(`There is no conversation "${visibleName(id)}".`);
    const conversation = host.conversation(kept ? { ...(id !== undefined && { id }) } : { keep: false });
    output.note(
      `${host.model.label}, with the tools of ${visibleNames(servers)}. exit, quit or Ctrl-D ends.`,
    );
    await converse(agent, conversation, context);
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

async function converse(
  { host, recording }: Agent,
  conversation: Conversation,
  context: Context,
): Promise<void> {
  const { output, signal } = context;
  const { cyan, green } = output.colors;
  const interactive = process.stdin.isTTY === true;
  const steps = new Steps(output, { speaker: `${green("assistant >")} `, model: host.model.label });
  if (await conversation.isWaiting()) {
    output.note("The last turn was not over; it goes on.");
    await turn("", (options) => conversation.resume(options), steps, context);
  }
  for await (const line of interactive ? typedLines(`${cyan("user >")} `, context) : pipedLines(context)) {
    const question = line.trim();
    if (signal.aborted || question === "exit" || question === "quit") return;
    if (question === "") continue;
    if (!interactive && !output.json) output.styled(`${cyan("user >")} ${question}`);
    const asked = (options: AskOptions) =>
      recording.turn(question, options.onEvent ?? (() => {}), (onEvent) =>
        conversation.ask(question, { ...options, onEvent }),
      );
    await turn(question, asked, steps, context);
    if (signal.aborted) return;
  }
  // Ctrl-C and Ctrl-D leave the cursor behind the prompt.
  if (interactive) output.styled("");
}

/** Lines of a terminal. Between them it is free for who else asks the user something. */
async function* typedLines(prompt: string, { signal }: Context): AsyncGenerator<string> {
  let history: string[] = [];
  while (!signal.aborted) {
    const lines = createInterface({
      input: process.stdin,
      output: process.stdout,
      prompt,
      history,
      historySize: HISTORY,
    });
    // On a terminal, readline sees Ctrl-C before the process does.
    lines.on("SIGINT", () => process.emit("SIGINT", "SIGINT"));
    lines.on("history", (now) => {
      history = now;
    });
    const close = () => lines.close();
    signal.addEventListener("abort", close, { once: true });
    const line = await new Promise<string | undefined>((resolve) => {
      lines.once("line", resolve);
      lines.once("close", () => resolve(undefined));
      lines.prompt();
    });
    signal.removeEventListener("abort", close);
    lines.close();
    if (line === undefined) return;
    yield line;
  }
}

async function* pipedLines({ signal }: Context): AsyncGenerator<string> {
  const lines = createInterface({ input: process.stdin });
  const close = () => lines.close();
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  try {
    yield* lines;
  } finally {
    signal.removeEventListener("abort", close);
    lines.close();
  }
}

/** One question. What goes wrong is told, and the next may be asked. */
async function turn(
  question: string,
  work: (options: AskOptions) => ReturnType<Conversation["resume"]>,
  steps: Steps,
  { output, signal }: Pick<Context, "output" | "signal">,
): Promise<void> {
  steps.begin();
  try {
    const answer = await work({ signal, onEvent: steps.onEvent });
    if (answer === undefined) return;
    const { text, ok, model, ...figures } = answer;
    if (output.json) output.value({ question, answer: text, ok, model, steps: steps.taken, ...figures });
    else steps.answer(text);
  } catch (thrown) {
    steps.endLine();
    signal.throwIfAborted();
    output.failure(toFailure(thrown));
  }
}
