/** `replay`: a recorded turn happens again, without model, network or keys; where it goes another way is told. */

import type { Context } from "../context.ts";
import { ExitCode } from "../failure.ts";
import { Steps } from "../steps.ts";
import { visibleLine } from "../visible.ts";

const MAX_SHOWN = 500;

export async function replay(path: string, { output, signal }: Context): Promise<number> {
  const { readRecording, replay } = await import("@patchbay/host/recording");
  const steps = new Steps(output);
  const { answer, failure, differences } = await replay(await readRecording(path), {
    signal,
    onEvent: steps.onEvent,
  });
  if (output.json) {
    const { text, ok, ...figures } = answer ?? {};
    const outcome = answer === undefined ? { failure } : { answer: text, ok, ...figures };
    output.value({ same: differences.length === 0, differences, ...outcome, steps: steps.taken });
  } else {
    if (answer !== undefined) steps.answer(answer.text);
    else output.message(`error: ${failure}`);
    for (const difference of differences) {
      const line = visibleLine(difference);
      output.warn(`not as recorded: ${line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line}`);
    }
    if (differences.length === 0) output.note("As it was recorded.");
  }
  return differences.length === 0 ? ExitCode.ok : ExitCode.failed;
}
