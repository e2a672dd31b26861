/** `ask`: one question and out. */

import { type AgentOptions, openAgent } from "../agent.ts";
import type { Context } from "../context.ts";
import { ExitCode, failed, usage } from "../failure.ts";
import { Steps } from "../steps.ts";

export async function ask(question: string, options: AgentOptions, context: Context): Promise<number> {
  if (question === "") throw usage('Ask something, such as: patchbay ask "564*34+12.4/455**2"');
  const { output, signal } = context;
  const { host, activity, recording } = await openAgent(options, context);
  try {
    const steps = new Steps(output);
    const { text, ok, model, ...figures } = await activity.during(steps.happening, () =>
      recording.turn(question, steps.onEvent, (onEvent) => host.ask(question, { signal, onEvent })),
    );
    if (output.json && !ok) throw failed(text);
    if (output.json) output.value({ answer: text, model, steps: steps.taken, ...figures });
    else if (ok) steps.answer(text);
    // What the rule planner says where it found nothing to run is help, not an answer.
    else output.message(text);
    return ok && steps.denied === 0 ? ExitCode.ok : ExitCode.failed;
  } finally {
    await host.close();
  }
}
