/** `chat`: questions and answers in one context, until `exit`. */

import { createInterface } from "node:readline";
import type { Conversation, Host } from "@patchbay/host";
import { type AgentOptions, openAgent } from "../agent.ts";
import type { Context } from "../context.ts";
import { toFailure } from "../failure.ts";
import { Steps } from "../steps.ts";
import { visibleNames } from "../visible.ts";

export async function chat(options: AgentOptions, context: Context): Promise<void> {
  const { output, signal } = context;
  const { host, servers } = await openAgent(options, context);
  try {
    output.note(
      `${host.model.label}, with the tools of ${visibleNames(servers)}. exit, quit or Ctrl-D ends.`,
    );
    await converse(host, context);
    signal.throwIfAborted();
  } finally {
    await host.close();
  }
}

async function converse(host: Host, { output, signal }: Context): Promise<void> {
  const { cyan, green } = output.colors;
  const interactive = process.stdin.isTTY === true;
  const lines = createInterface({
    input: process.stdin,
    // Without an output it neither echoes nor prompts: what comes from a pipe is echoed by us.
    ...(interactive ? { output: process.stdout } : {}),
    prompt: `${cyan("user >")} `,
  });
  // On a terminal, readline sees Ctrl-C before the process does.
  lines.on("SIGINT", () => process.emit("SIGINT", "SIGINT"));
  const close = () => lines.close();
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  const conversation = host.conversation();
  const steps = new Steps(output, { speaker: `${green("assistant >")} `, model: host.model.label });
  let left = false;
  if (interactive) lines.prompt();
  for await (const line of lines) {
    const question = line.trim();
    left = question === "exit" || question === "quit";
    if (signal.aborted || left) break;
    if (question !== "") {
      if (!interactive && !output.json) output.styled(`${cyan("user >")} ${question}`);
      await turn(conversation, question, steps, { output, signal });
    }
    if (interactive && !signal.aborted) lines.prompt();
  }
  signal.removeEventListener("abort", close);
  lines.close();
  // Ctrl-C and Ctrl-D leave the cursor behind the prompt.
  if (interactive && !left) output.styled("");
}

/** One question. What goes wrong is told, and the next may be asked. */
async function turn(
  conversation: Conversation,
  question: string,
  steps: Steps,
  { output, signal }: Pick<Context, "output" | "signal">,
): Promise<void> {
  steps.begin();
  try {
    const { text, ok, model } = await conversation.ask(question, { signal, onEvent: steps.onEvent });
    if (output.json) output.value({ question, answer: text, ok, model, steps: steps.taken });
    else steps.answer(text);
  } catch (thrown) {
    steps.endLine();
    signal.throwIfAborted();
    output.failure(toFailure(thrown));
  }
}
