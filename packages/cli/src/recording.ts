/** `--record`: each turn of `ask` and `chat` is kept as a file, without the secrets that are known. */

import type { ApprovalRules, HostEvent, Model, Question } from "@patchbay/host";
import type { Recorder } from "@patchbay/host/recording";
import { isSecretVariable } from "./config/variables.ts";
import { failed } from "./failure.ts";
import type { Output } from "./output.ts";

type OnEvent = (event: HostEvent) => void;

export interface Recording extends Pick<Recorder, "model"> {
  watch(server: string): ReturnType<Recorder["watch"]> | undefined;
  /** Runs a turn, and says where it was kept. */
  turn<T>(question: Question, onEvent: OnEvent, work: (onEvent: OnEvent) => Promise<T>): Promise<T>;
}

/** What nobody asked for. */
const NOTHING: Recording = {
  model: (model) => model,
  watch: () => undefined,
  turn: (_question, onEvent, work) => work(onEvent),
};

/** Shorter ones would take words out of texts. */
const MIN_SECRET_LENGTH = 8;

/**
 * @param folder nothing: nothing is recorded
 * @param rules those of the host: a replay is to decide as it did
 */
export async function openRecording(
  folder: string | undefined,
  rules: ApprovalRules,
  output: Output,
): Promise<Recording> {
  if (folder === undefined) return NOTHING;
  const { createRecorder, recordingFile } = await import("@patchbay/host/recording");
  output.hide(
    Object.entries(process.env).flatMap(([name, value = ""]) =>
      isSecretVariable(name, value) && value.length >= MIN_SECRET_LENGTH
        ? [[value, `[${name}]`] as const]
        : [],
    ),
  );
  const recorder = createRecorder({ rules, redact: (text) => output.without(text) });

  function open(folder: string): ReturnType<typeof recordingFile> {
    try {
      return recordingFile(folder);
    } catch (thrown) {
      throw failed(`Nothing can be recorded in ${folder}: ${(thrown as Error).message}.`);
    }
  }

  return {
    model: (model: Model) => recorder.model(model),
    watch: (server) => recorder.watch(server),
    async turn(question, onEvent, work) {
      const file = open(folder);
      const recorded = recorder.begin(question, file);
      const both: OnEvent = (event) => {
        recorded.event(event);
        onEvent(event);
      };
      let failure: Error | undefined;
      try {
        return await work(both);
      } catch (thrown) {
        failure = thrown instanceof Error ? thrown : new Error(String(thrown));
        throw thrown;
      } finally {
        const lost = recorded.end(failure);
        file.close();
        if (lost === undefined) output.note(`recorded in ${file.path}`);
        else output.warn(`the recording ${file.path} is not whole: ${lost.message}`);
      }
    },
  };
}
