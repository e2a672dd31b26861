/** A model out of a recording: it replies what the recorded one replied to the same. */

import { canonicalJson, type JsonValue } from "@patchbay/core";
import { HostError } from "../errors.ts";
import type { Model } from "../models/model.ts";
import type { RecordedMessage, Recording, RecordingEntry } from "./format.ts";
import { fromRecordedReply, toRecorded } from "./messages.ts";
import type { OnDifference } from "./replay-server.ts";
import { steady } from "./steady.ts";

type Entry<Type extends RecordingEntry["type"]> = Extract<RecordingEntry, { type: Type }>;

interface Recorded {
  /** The messages of the turn: what was said before it is not in question. */
  key: string;
  answer: Entry<"model_reply"> | Entry<"model_failure"> | undefined;
  used: boolean;
}

export function replayModel({ head, entries }: Recording, onDifference: OnDifference): Model {
  const answers = new Map(
    entries.flatMap((entry) =>
      entry.type === "model_reply" || entry.type === "model_failure" ? [[entry.request, entry] as const] : [],
    ),
  );
  const recorded: Recorded[] = entries.flatMap((entry) =>
    entry.type === "model_request"
      ? [{ key: keyOf(entry.messages), answer: answers.get(entry.request), used: false }]
      : [],
  );
  return {
    ...head.model,
    async reply({ messages, onText }) {
      const said = messages.map(toRecorded);
      const next = recorded.find(({ used }) => !used);
      const found = recorded.find(({ used, key }) => !used && key === keyOf(said)) ?? next;
      if (found?.answer === undefined)
        throw new HostError("model", "The recording has no more replies of the model.");
      found.used = true;
      if (found.key !== keyOf(said)) onDifference(difference(found.key, keyOf(said)));
      if (found.answer.type === "model_failure") throw new HostError("model", found.answer.reason);
      const message = fromRecordedReply(found.answer.message, found.answer.usage);
      if (message.text !== "") onText(message.text);
      return { message, ok: found.answer.ok };
    },
  };
}

function keyOf(messages: readonly RecordedMessage[]): string {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  return steady(canonicalJson(messages.slice(Math.max(asked, 0)) as unknown as JsonValue));
}

const AROUND = 60;

/** Where two texts part, with what stands around it. */
function difference(recorded: string, now: string): string {
  let at = 0;
  while (at < recorded.length && recorded[at] === now[at]) at++;
  const from = Math.max(0, at - AROUND);
  const piece = (text: string) => JSON.stringify(text.slice(from, at + AROUND));
  return `the model is sent something else than in the recording: it was ${piece(recorded)}, and is ${piece(now)}`;
}
